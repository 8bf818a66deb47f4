extension SubscriptionNode {
  /// The subscriber as a further protocol, for a question.
  ///
  /// - Returns: `nil` if it does not conform, or if it has died, which terminates the subscription.
  @inlinable
  @inline(never)
  func subscriber<P>(
    as type: P.Type, conformingTo narrowing: Narrowing, for call: CallKind
  ) -> P? {
    guard let object = object(for: call), narrowing.outerAdmit(object),
      let subscriber = object as? P
    else { return nil }
    noteHeard()
    return subscriber
  }

  /// A reference to the subscriber as a further protocol.
  ///
  /// Must not be called under a lock or on the hub's actor.
  ///
  /// - Returns: `nil` if it does not conform, or if it has died, which terminates the subscription.
  func reference(as narrowing: Narrowing, for call: CallKind? = nil) -> WeakReference? {
    object(for: call).flatMap { narrowing.reference(to: $0) }
  }

  /// Whether a question would reach the subscriber: calls may start, it is alive, and it conforms.
  ///
  /// If it has died, the subscription ends as expired. Must not be called under a lock or on the hub's actor.
  ///
  /// - Parameters:
  ///   - narrowing: the further protocols that it must conform to; `nil` for none.
  ///   - call: the call that looks, if one does.
  /// - Returns: whether it would.
  @usableFromInline
  func isReached(as narrowing: Narrowing?, endingIn call: CallKind?) -> Bool {
    isActive(endingIn: call) && narrowing.map { reference(as: $0, for: call) != nil } ?? true
  }
}
