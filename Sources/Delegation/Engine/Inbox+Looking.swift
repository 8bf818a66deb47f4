extension Inbox {
  /// How many of a protocol's subscriptions are looked at for one that is alive.
  private static var mostLooks: Int { 384 }

  /// Whether a protocol has a live subscriber.
  ///
  /// - Parameters:
  ///   - key: what the protocol is known by.
  ///   - isAlive: called outside the lock; it may terminate the subscription.
  /// - Returns: whether there was one; if all that were searched have died, whether there are others.
  func hasSubscription(
    of key: ObjectIdentifier, thatIsAlive isAlive: (SubscriptionNode) -> Bool
  ) -> Bool {
    var looks = 0
    return hasSubscription(of: key) { nodes in
      nodes.contains { node in
        looks += 1
        return looks > Self.mostLooks || isAlive(node)
      }
    }
  }

  /// Whether an open subscription of a protocol meets a condition.
  ///
  /// It goes through them in small pieces, with one lock section for each; it may miss some of those that
  /// are added or terminated meanwhile.
  ///
  /// - Parameters:
  ///   - key: what the protocol is known by.
  ///   - condition: whether one of a piece meets it; called outside the lock.
  /// - Returns: whether there was one.
  func hasSubscription(
    of key: ObjectIdentifier, among condition: ([SubscriptionNode]) -> Bool
  ) -> Bool {
    guard mayReach(key) else { return false }
    var place = GradualTable<ObjectIdentifier, SubscriptionNode>.Place()
    while true {
      let piece = state.withLock { state in
        guard let index = state.indexes.index(forKey: key),
          state.indexes.values[index].population > 0
        else { return (nodes: [SubscriptionNode]?.none, next: place) }
        var next = place
        let nodes = state.indexes.values[index].members.values(at: &next)
        return (nodes: nodes, next: next)
      }
      guard let nodes = piece.nodes else { return false }
      if condition(nodes) { return true }
      place = piece.next
    }
  }
}
