internal import Synchronization

/// The inbox, as subscriptions know it.
protocol SubscriptionOwner: AnyObject, Sendable {
  /// Terminates a subscription, unless that has been done.
  ///
  /// It releases what the user gave: must not be called under a lock or on the hub's actor.
  ///
  /// - Parameters:
  ///   - node: the subscription.
  ///   - termination: how it is terminated.
  ///   - call: the call that found the subscriber dead, if one did.
  func terminate(_ node: SubscriptionNode, as termination: Termination, in call: CallKind?)

  /// Reports an incident to the user, without waiting.
  ///
  /// Must not be called under a lock.
  func report(_ incident: DelegateHub.Incident)

  /// Requests a worker for a subscription that has pending notifications.
  func requestWorker(for node: SubscriptionNode)

  /// How many workers the hub has.
  var activity: Activity { get }
}

/// What the subscriptions of one protocol share, outside of the inbox's lock.
final class Topic: Sendable {
  /// The protocol's type.
  private let type: Any.Type
  /// Its `ObjectIdentifier`.
  let key: ObjectIdentifier
  /// A number that no other topic ever has, not even that of another hub with the same protocol.
  let number: Int

  private static let numbers = Atomic<Int>(0)

  /// How many notifications have been posted so far, which is also the number of the next one.
  ///
  /// It is raised under the inbox's lock only, after the notification was filled: after a load of a count
  /// the notifications with lower numbers may be read.
  let published = Atomic<Int>(0)
  /// The number of the notification that was posted last with a receipt; -1 if none was.
  ///
  /// Grows under the inbox's lock only, before the notification is counted in `published`: whoever knows of
  /// a notification knows of its receipt.
  let lastReceipt = Atomic<Int>(-1)
  /// The number of the last change of the protocol's subscriptions: one was added, replaced, ranked or
  /// terminated.
  ///
  /// It is raised under the inbox's lock only, before the call that made the change returns. So a snapshot as of
  /// that number is the present one for a caller that reads the number, whoever else changes something meanwhile.
  let lastChange = Atomic<Int>(0)
  /// The hub's inbox.
  ///
  /// Inbox and topic refer to each other until the hub is released.
  let owner: any SubscriptionOwner

  /// Which subscriptions succeed others.
  ///
  /// No other lock is taken under its lock, so it may be taken under any other.
  let succession = Lock(Succession())

  /// The waiters for the handlers of a subscription to end, by the subscription.
  ///
  /// Invariant: the `awaited` bit of a subscription is set before its first waiter counts the running
  /// handlers, and is cleared only when its last waiter is removed.
  private let endWaiters = Lock<[ObjectIdentifier: WaitList]>([:])

  init(_ type: Any.Type, owner: any SubscriptionOwner) {
    self.type = type
    self.owner = owner
    key = ObjectIdentifier(type)
    number = Self.numbers.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// The protocol's name.
  var name: String { String(reflecting: type) }

  // MARK: Waiting for a subscription's handlers

  /// Changes the list of those who wait for the handlers of a subscription to end, and resumes those that need not
  /// wait.
  ///
  /// Must not be called under a lock.
  func updateWaiters(
    for node: SubscriptionNode, _ change: (inout WaitList) -> Void = { _ in }
  ) {
    let fulfilled = endWaiters.withLock { waiters in
      var list = waiters.removeValue(forKey: ObjectIdentifier(node)) ?? WaitList()
      change(&list)
      node.setAwaited(!list.isEmpty)
      let fulfilled = list.takeFulfilled(at: node.runningCalls)
      if list.isEmpty {
        node.setAwaited(false)
      } else {
        waiters[ObjectIdentifier(node)] = list
      }
      return fulfilled
    }
    for waiter in fulfilled { waiter.resume(true) }
  }
}

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
