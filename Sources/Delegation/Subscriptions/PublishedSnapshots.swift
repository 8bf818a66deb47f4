internal import Synchronization

/// The latest snapshots that the hub's actor has taken, for callers that need not enter it.
///
/// Only the actor publishes and withdraws. Each snapshot has the number of the change that it is of. It is the
/// present one as long as the protocol's last change has that number, which the reader compares. That the actor
/// has no changes left to take would not do: it takes them before it has applied them.
struct PublishedSnapshots: Sendable {
  /// What a protocol is known by; the hash that it would have costs more than the rest of a look-up.
  private struct Key: Hashable, Sendable {
    let id: ObjectIdentifier

    func hash(into hasher: inout Hasher) { hasher.combine(id) }

    /// Addresses differ above their alignment; the golden ratio spreads them over the upper bits.
    func _rawHashValue(seed: Int) -> Int {
      Int(truncatingIfNeeded: (UInt64(UInt(bitPattern: id)) &* 0x9E37_79B9_7F4A_7C15) >> 32)
    }
  }

  private struct Snapshot: Sendable {
    let topic: Topic
    /// The number of the change that it is of.
    let number: Int
    let nodes: [SubscriptionNode]
  }

  private var snapshots: [Key: Snapshot] = [:]

  /// The present subscriptions of a protocol, in order, if they are published.
  func present(of key: ObjectIdentifier) -> [SubscriptionNode]? {
    guard let snapshot = snapshots[Key(id: key)],
      snapshot.number == snapshot.topic.lastChange.load(ordering: .acquiring)
    else { return nil }
    return snapshot.nodes
  }

  /// Publishes a protocol's subscriptions as of a change.
  mutating func publish(_ nodes: [SubscriptionNode], of topic: Topic, asOf number: Int) {
    snapshots[Key(id: topic.key)] = Snapshot(topic: topic, number: number, nodes: nodes)
  }

  /// Withdraws a protocol's snapshot: a roster that is changed would be copied while it is shared.
  ///
  /// - Returns: what it had, to be released outside the lock.
  mutating func withdraw(_ topic: Topic) -> [SubscriptionNode] {
    snapshots.removeValue(forKey: Key(id: topic.key))?.nodes ?? []
  }
}
