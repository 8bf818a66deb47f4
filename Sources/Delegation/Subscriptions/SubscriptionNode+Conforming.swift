extension SubscriptionNode {
  /// The subscriber as a further protocol, for a question; `nil` if it does not conform or has died, in
  /// which case the subscription ends as expired.
  @inlinable
  @inline(never)
  func subscriber<P>(
    as type: P.Type, conformingTo narrowing: Narrowing, for call: CallKind
  ) -> P? {
    guard let shared = reference(as: narrowing, for: call) else { return nil }
    if let subscriber = shared.reference.load(as: type) {
      noteHeard()
      return subscriber
    }
    terminate(as: .expired, in: call)
    return nil
  }

  /// How the subscriber is referred to as a further protocol, or `nil` if it does not conform or has
  /// died, in which case the subscription ends as expired.
  ///
  /// Each protocol is looked up once in the life of a subscription, or a few times if several ask for it
  /// at the same moment for the first time. Must not be called under a lock or on the hub's actor.
  @usableFromInline
  func reference(as narrowing: Narrowing, for call: CallKind? = nil) -> SharedReference? {
    var found: SharedReference?
    for step in narrowing.steps {
      let known = contents.withLock { $0.attachments.conformance(for: step.key) }
      guard let reference = (known ?? findOut(step, for: call))?.reference else { return nil }
      // The first step is the last protocol, as which the subscriber is called.
      if found == nil { found = reference }
    }
    return found
  }

  private func findOut(_ narrowing: Narrowing, for call: CallKind?) -> Conformance? {
    guard let object = reference.object else {
      terminate(as: .expired, in: call)
      return nil
    }
    let conformance = narrowing.conformance(of: object)
    contents.withLock { contents in
      // What has ended keeps nothing; it ends before its attachments are taken.
      if isOpen { contents.attachments.add(conformance) }
    }
    return conformance
  }
}
