extension Inbox {
  /// How many buckets of a protocol's subscriptions are searched for one that is alive.
  private static var mostPieces: Int { 64 }

  /// Whether a protocol has a live subscriber.
  ///
  /// - Parameters:
  ///   - key: what the protocol is known by.
  ///   - isAlive: called outside the lock; it may terminate the subscription.
  /// - Returns: whether there was one; if all that were searched have died, whether there are others.
  func hasSubscription(
    of key: ObjectIdentifier, thatIsAlive isAlive: (SubscriptionNode) -> Bool
  ) -> Bool {
    var pieces = 0
    return hasSubscription(of: key) { nodes in
      pieces += 1
      return pieces > Self.mostPieces || nodes.contains(where: isAlive)
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
    var place = 0
    while true {
      let piece = state.withLock { state -> (nodes: [SubscriptionNode]?, next: Int) in
        guard let index = state.indexes.index(forKey: key),
          state.indexes.values[index].population > 0
        else { return (nil, 0) }
        var next = place
        return (state.indexes.values[index].members.values(at: &next), next)
      }
      guard let nodes = piece.nodes else { return false }
      if condition(nodes) { return true }
      place = piece.next
    }
  }
}
