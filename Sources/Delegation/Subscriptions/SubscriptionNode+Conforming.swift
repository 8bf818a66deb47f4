extension SubscriptionNode {
  /// The subscriber as a further protocol, for a question.
  ///
  /// - Returns: `nil` if it does not conform, or if it has died, which terminates the subscription.
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

  /// A reference to the subscriber as a further protocol.
  ///
  /// Each protocol is looked up once in the life of a subscription, or a few times if the first lookups
  /// are simultaneous. Must not be called under a lock or on the hub's actor.
  ///
  /// - Returns: `nil` if it does not conform, or if it has died, which terminates the subscription.
  @usableFromInline
  func reference(as narrowing: Narrowing, for call: CallKind? = nil) -> SharedReference? {
    var found: SharedReference?
    for step in narrowing.steps {
      let known = contents.withLock { $0.attachments.conformance(for: step.key) }
      guard let reference = (known ?? findOut(step, for: call))?.reference else { return nil }
      // The first step is the innermost protocol, as which the subscriber is called.
      if found == nil { found = reference }
    }
    return found
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
    if let narrowing {
      guard isOpen, reference(as: narrowing, for: call) != nil else { return false }
    }
    return isActive(endingIn: call)
  }

  private func findOut(_ narrowing: Narrowing, for call: CallKind?) -> Conformance? {
    guard let object = reference.object else {
      terminate(as: .expired, in: call)
      return nil
    }
    let conformance = narrowing.conformance(of: object)
    contents.withLock { contents in
      // A terminated subscription keeps nothing: it ceases to be open before its attachments are taken.
      if isOpen { contents.attachments.add(conformance) }
    }
    return conformance
  }
}
