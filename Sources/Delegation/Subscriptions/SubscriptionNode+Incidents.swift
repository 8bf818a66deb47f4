public import Synchronization

/// The name of a subscriber, for people; its text is made each time it is read.
struct SubscriberName: Sendable, CustomStringConvertible {
  let type: any AnyObject.Type
  /// The id, if one was given.
  let id: Identity?

  var description: String {
    let type = String(reflecting: type)
    return id.map { "\(type) (\($0))" } ?? type
  }
}

extension SubscriptionNode {
  /// Reports an incident of this subscription.
  ///
  /// Takes the lock of the contents; must not be called under a lock.
  func report(
    _ kind: DelegateHub.Incident.Kind, in call: CallKind, error: (any Error)? = nil,
    dropped: Int = 0, since start: Duration? = nil, lasting duration: Duration? = nil,
    context: TaskLocalPropagation.Context? = nil
  ) {
    topic.owner.report(
      .init(
        kind: kind, call: .init(code: call), error: error, dropped: dropped, duration: duration,
        subscription: .init(node: self), start: start, context: context, name: name))
  }

  /// Tells what the handler of a question threw, which has been counted off.
  func report(_ failure: CallFailure, in call: CallKind) {
    report(.failed, in: call, error: failure.error, lasting: failure.duration)
  }

  /// Notes that the handler of a notification is about to be called with the subscriber, if that is alive.
  func noteHeard(by reference: borrowing WeakReference) {
    if state.load(ordering: .relaxed) & Bits.heard == 0, reference.isAlive { noteHeard() }
  }

  /// Notes that the subscriber is called.
  ///
  /// Except for the first time, it only loads the state.
  @inlinable
  @inline(__always)
  func noteHeard() {
    if state.load(ordering: .relaxed) & Bits.heard == 0 { noteFirstCall() }
  }

  @inline(never)
  @usableFromInline
  func noteFirstCall() {
    state.bitwiseOr(Bits.heard, ordering: .relaxed)
    topic.noteCalled(subscriberType, from: site)
  }

  /// Reports a subscriber that was found dead, if calls were made and none reached it, nor any other one that the
  /// same line of the source has subscribed.
  ///
  /// - Parameters:
  ///   - account: what became of its notifications.
  ///   - call: the call that found it; `nil` if none did.
  ///   - id: its id, if one was given.
  func reportIfUnheard(_ account: Account, in call: CallKind?, id: Identity?) {
    guard state.load(ordering: .relaxed) & Bits.heard == 0,
      // One that is being handled is a call's that has found it dead, or the first that reached it.
      call != nil || account.handling == 0 && account.expired > 0,
      !topic.hasCalled(subscriberType, from: site)
    else { return }
    topic.owner.report(
      .init(
        kind: .unheard, call: .init(code: call ?? .notify), subscription: .init(node: self),
        name: SubscriberName(type: subscriberType, id: id)))
  }
}
