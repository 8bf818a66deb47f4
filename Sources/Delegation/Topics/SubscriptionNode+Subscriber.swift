public import Synchronization

/// How a subscription reaches its subscriber.
extension SubscriptionNode {
  /// The subscriber.
  ///
  /// Must not be called under a lock.
  ///
  /// - Parameter call: the call that looks, if one does.
  /// - Returns: `nil` if it has died, which terminates the subscription.
  @usableFromInline
  func object(for call: CallKind?) -> AnyObject? {
    let object = reference.living
    if object == nil { terminate(as: .expired, in: call) }
    return object
  }

  /// Whether a question would reach the subscriber: calls may start, it is alive, and it conforms.
  ///
  /// If it has died, the subscription ends as expired. Must not be called under a lock.
  ///
  /// - Parameters:
  ///   - admits: whether an object conforms to further protocols; `nil` for none.
  ///   - call: the call that looks, if one does.
  /// - Returns: whether it would.
  @usableFromInline
  func isReached(by admits: RecipientFilter?, endingIn call: CallKind?) -> Bool {
    guard isOpen, let object = object(for: call) else { return false }
    return admits?(object) ?? true
  }
}

/// A subscriber of the library's own, with the name that statistics and incidents have for it.
protocol NamedSubscriber: AnyObject {
  static var name: String { get }
}

/// What a subscription reports of its subscriber.
extension SubscriptionNode {
  /// The subscriber's name, for people: its type and its id, if one was given.
  func name(with id: Identity?) -> String {
    let type = (site.type as? any NamedSubscriber.Type)?.name ?? Topic.name(of: site.type)
    return id.map { "\(type) (\($0))" } ?? type
  }

  /// Reports an incident of this subscription.
  ///
  /// Takes the lock of the contents; must not be called under a lock.
  func report(
    _ kind: DelegateHub.Incident.Kind, in call: CallKind, error: (any Error)? = nil,
    dropped: Int = 0, since start: Duration? = nil,
    context: TaskLocalPropagation.Context? = nil, with id: Identity? = nil
  ) {
    topic.owner?.report(
      .init(
        kind: kind, call: call, error: error, dropped: dropped,
        subscription: .init(node: self), start: start, context: context,
        id: id ?? self.id))
  }

  /// Notes that the handler of a notification is about to be called with the subscriber, if that is alive; one that is
  /// deferred is not, until it begins.
  func noteHeard(by reference: borrowing WeakReference) {
    if state.load(ordering: .relaxed) & Bits.heard == 0, reference.isAlive { noteFirstCall() }
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
    site.isCalled.store(true, ordering: .relaxed)
  }

  /// Reports a subscriber that was found dead, if no call reached it, nor any other one that the same line of the
  /// source has subscribed.
  ///
  /// - Parameters:
  ///   - call: a call that was made.
  ///   - id: its id, if one was given.
  func reportIfUnheard(in call: CallKind, id: Identity?) {
    if state.load(ordering: .relaxed) & Bits.heard == 0, !site.isCalled.load(ordering: .relaxed) {
      report(.unheard, in: call, with: id)
    }
  }
}
