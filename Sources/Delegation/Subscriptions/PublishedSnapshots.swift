internal import Synchronization

/// The latest snapshots that the hub's actor has taken, for callers that need not enter it.
///
/// Only the actor publishes and withdraws. Each snapshot has the number of the change that it is of. It is the
/// present one as long as the protocol's last change has that number, which the reader compares. That the actor
/// has no changes left to take would not do: it takes them before it has applied them.
///
/// Invariant: `keys` and `snapshots` have the same places. A key is at the first place from its hash on that was
/// free when it was added; at least half of the places are free.
struct PublishedSnapshots: Sendable {
  private struct Snapshot: Sendable {
    let topic: Topic
    /// The number of the change that it is of; -1 if it was withdrawn.
    var number = -1
    var nodes: [SubscriptionNode] = []
  }

  /// The place of each key, by its hash; 0 where there is none.
  private var keys: [UInt] = [0, 0]
  private var snapshots: [Snapshot?] = [nil, nil]
  private var count = 0

  /// The present subscriptions of a protocol, in order, if they are published.
  func present(of key: ObjectIdentifier) -> [SubscriptionNode]? {
    let place = place(of: key)
    guard keys[place] != 0, let snapshot = snapshots[place],
      snapshot.number == snapshot.topic.lastChange.load(ordering: .acquiring)
    else { return nil }
    return snapshot.nodes
  }

  /// Publishes a protocol's subscriptions as of a change.
  mutating func publish(_ nodes: [SubscriptionNode], of topic: Topic, asOf number: Int) {
    var place = place(of: topic.key)
    if keys[place] == 0 {
      if (count + 1) * 2 > keys.count { grow() }
      place = add(topic)
    }
    snapshots[place]?.number = number
    snapshots[place]?.nodes = nodes
  }

  /// Withdraws a protocol's snapshot: a roster that is changed would be copied while it is shared.
  ///
  /// - Returns: what it had, to be released outside the lock.
  mutating func withdraw(_ topic: Topic) -> [SubscriptionNode] {
    let place = place(of: topic.key)
    guard let nodes = snapshots[place]?.nodes else { return [] }
    snapshots[place]?.number = -1
    snapshots[place]?.nodes = []
    return nodes
  }

  private mutating func add(_ topic: Topic) -> Int {
    let place = place(of: topic.key)
    keys[place] = UInt(bitPattern: topic.key)
    snapshots[place] = Snapshot(topic: topic)
    count += 1
    return place
  }

  private mutating func grow() {
    let former = snapshots
    keys = Array(repeating: 0, count: former.count * 2)
    snapshots = Array(repeating: nil, count: former.count * 2)
    for case let snapshot? in former {
      let place = place(of: snapshot.topic.key)
      keys[place] = UInt(bitPattern: snapshot.topic.key)
      snapshots[place] = snapshot
    }
  }

  /// Where a key is, or would be added.
  private func place(of key: ObjectIdentifier) -> Int {
    // Not in a dictionary, whose hash of a key costs more than the rest.
    let mask = keys.count - 1
    let key = UInt(bitPattern: key)
    var place = Int(truncatingIfNeeded: UInt64(key) &* 0x9E37_79B9_7F4A_7C15 >> 32) & mask
    while keys[place] != 0, keys[place] != key { place = (place + 1) & mask }
    return place
  }
}
