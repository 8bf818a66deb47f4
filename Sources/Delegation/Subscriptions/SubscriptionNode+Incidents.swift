public import Synchronization

/// How often a subscriber gave no answer to a question.
struct Misses: Sendable, Hashable {
  /// Its handler threw.
  var failed: Int32 = 0
  /// It had not answered at a deadline.
  var late: Int32 = 0
}

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
    dropped: Int = 0
  ) {
    topic.owner.report(
      .init(
        kind: kind, call: .init(code: call), error: error, dropped: dropped,
        subscription: .init(node: self), name: name))
  }

  /// How often the subscriber gave no answer to a question.
  var misses: Misses { contents.withLock { $0.misses } }

  /// Notes that the handler of a question threw an error that its caller receives.
  ///
  /// Called in the handler's task: an error after its cancellation does not count as a failure.
  @usableFromInline
  func noteFailure() {
    guard !Task.isCancelled else { return }
    contents.withLock { $0.misses.failed += 1 }
  }

  /// Notes that the handler of a question threw an error that its caller does not receive.
  ///
  /// Called in the handler's task, as ``noteFailure()``.
  @usableFromInline
  func noteFailure(_ error: any Error, in call: CallKind) {
    SwallowedError.note(error, of: self)
    guard !Task.isCancelled else { return }
    noteFailure()
    report(.failed, in: call, error: error)
  }

  /// Notes that the subscriber had not answered at a question's deadline, unless it was removed.
  @usableFromInline
  func noteLate(in call: CallKind) {
    guard isOpen else { return }
    contents.withLock { $0.misses.late += 1 }
    report(.late, in: call)
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
    if state.load(ordering: .relaxed) & Bits.heard == 0 {
      state.bitwiseOr(Bits.heard, ordering: .relaxed)
    }
  }

  /// Reports a subscriber that was found dead, if calls were made and none reached it.
  ///
  /// - Parameters:
  ///   - account: what became of its notifications.
  ///   - call: the call that found it; `nil` if none did.
  ///   - id: its id, if one was given.
  func reportIfUnheard(_ account: Account, in call: CallKind?, id: Identity?) {
    guard state.load(ordering: .relaxed) & Bits.heard == 0,
      // One that is being handled is a call's that has found it dead, or the first that reached it.
      call != nil || account.handling == 0 && account.expired > 0
    else { return }
    topic.owner.report(
      .init(
        kind: .unheard, call: .init(code: call ?? .notify), subscription: .init(node: self),
        name: SubscriberName(type: subscriberType, id: id)))
  }
}
