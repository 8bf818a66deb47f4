extension Inbox {
  /// How many of a protocol's subscriptions are looked at for one that is alive.
  static var mostLooks: Int { 384 }

  /// Whether an open subscription of a protocol meets a condition.
  ///
  /// It goes through them in small pieces, with one lock section for each; it may miss some of those that
  /// are added or terminated meanwhile.
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
    guard mayReach(key) else { return false }
    var place = GradualTable<ObjectIdentifier, SubscriptionNode>.Place()
    var looks = 0
    while true {
      let piece = state.withLock { state -> [SubscriptionNode]? in
        guard let index = state.indexes.index(forKey: key),
          state.indexes.values[index].population > 0
        else { return nil }
        return state.indexes.values[index].members.values(at: &place)
      }
      guard let piece else { return false }
      for node in piece {
        looks += 1
        if looks > most || condition(node) { return true }
      }
    }
  }
}
