extension Inbox {
  /// How many of a protocol's subscriptions are looked at for one that is alive.
  static var mostLooks: Int { 384 }

  /// Whether an open subscription of a protocol meets a condition.
  ///
  /// It goes through those that are open when it begins, and leaves out those that are added meanwhile.
  ///
  /// - Parameters:
  ///   - key: what the protocol is known by.
  ///   - most: how many are looked at; the next one is taken to meet the condition.
  ///   - condition: called outside the lock; it may terminate the subscription.
  /// - Returns: whether there was one.
  func hasSubscription(
    of key: ObjectIdentifier, lookingAtMost most: Int = .max,
    where condition: (SubscriptionNode) -> Bool
  ) -> Bool {
    guard mayReach(key), let members = members(of: key) else { return false }
    var looks = 0
    for node in members.values {
      looks += 1
      if looks > most || condition(node) { return true }
    }
    return false
  }

  /// The open subscriptions of a protocol.
  ///
  /// As long as somebody keeps them, a change copies the part that it is in.
  func members(of key: ObjectIdentifier) -> Shards<SubscriptionNode>? {
    state.withLock { state in
      // By its place: reading the index as a value would copy it.
      state.indexes.index(forKey: key).map { state.indexes.values[$0].members }
    }
  }
}
