extension Inbox {
  /// Whether an open subscription of a protocol meets a condition.
  ///
  /// - Parameters:
  ///   - key: what the protocol is known by.
  ///   - condition: looked at outside the lock; it may end the subscription.
  /// - Returns: whether there was one.
  func hasSubscription(
    of key: ObjectIdentifier, where condition: (SubscriptionNode) -> Bool
  ) -> Bool {
    guard mayReach(key) else { return false }
    // Mostly the first one will do.
    guard let first = state.withLock({ $0.indexes[key]?.anyMember }) else { return false }
    if condition(first) { return true }
    return state.withLock { $0.indexes[key]?.allMembers ?? [] }.contains(where: condition)
  }
}

extension TopicIndex {
  fileprivate var anyMember: SubscriptionNode? {
    members.values.first ?? identified.values.first?.first
  }

  fileprivate var allMembers: [SubscriptionNode] {
    Array(members.values) + identified.values.joined()
  }
}
