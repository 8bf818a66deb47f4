internal import Synchronization

/// One protocol's part of the inbox: the end of its chain, and who is subscribed.
///
/// Invariant: `members` and `identified` together hold exactly the open subscriptions, so that
/// `population` is the number that a notification posted now is addressed to.
struct TopicIndex: Sendable {
  /// What the hub's actor has to learn about a protocol.
  struct Changes: Sendable {
    var topic: Topic
    var joined: [SubscriptionNode] = []
    var left = 0
    var isReordered = false
  }

  let topic: Topic
  /// The empty end of the chain.
  private var placeholder = Notification()
  /// Subscriptions by the subscriber's address.
  ///
  /// An entry may be of a dead one until it is found out.
  private(set) var members: [ObjectIdentifier: SubscriptionNode] = [:]
  /// Subscriptions with an identity of their own, by its hash.
  private(set) var identified: [Int: [SubscriptionNode]] = [:]
  /// The same by the subscriber's address.
  private var identifiedByAddress: [ObjectIdentifier: [SubscriptionNode]] = [:]
  private(set) var population = 0
  private(set) var posted = 0
  /// Notifications times the subscribers each was addressed to.
  private(set) var addressed = 0
  /// The population at which to look for dead subscribers next.
  private var sweepPopulation = Self.smallestSweep
  private(set) var changes: Changes
  /// Notifications were posted that no fan-out has set out with.
  private var isPending = false

  private static let smallestSweep = 512

  init(topic: Topic) {
    self.topic = topic
    changes = Changes(topic: topic)
  }

  // MARK: Telling

  /// What a posting came to.
  struct Posting: Sendable {
    /// For the caller to let go outside the lock: if nobody is left to hold it, its captures die with
    /// it.
    var notification: Notification
    /// No fan-out was due before.
    var isFirst: Bool
  }

  /// Appends a notification, unless there is nobody to hear it.
  mutating func postIfHeard(
    _ content: Notification.Content, followedBy next: Notification
  ) -> Posting? {
    population > 0 ? post(content, followedBy: next) : nil
  }

  /// Appends a notification.
  mutating func post(_ content: Notification.Content, followedBy next: Notification) -> Posting {
    let notification = placeholder
    notification.fill(with: content, followedBy: next)
    content.receipt?.open(number: posted, to: topic.key, addressees: population)
    placeholder = next
    posted += 1
    addressed += population
    topic.published.wrappingAdd(1, ordering: .releasing)
    return Posting(notification: notification, isFirst: markPending())
  }

  /// Notes that a fan-out is due.
  ///
  /// - Returns: whether none was before.
  mutating func markPending() -> Bool {
    defer { isPending = true }
    return !isPending
  }

  /// Notes that a fan-out sets out.
  ///
  /// - Returns: the topic it sets out in.
  mutating func beginFanOut() -> Topic {
    isPending = false
    return topic
  }

  // MARK: Subscriptions

  /// A mailbox that begins with what is posted next.
  func makeMailbox(_ policy: DelegateHub.MailboxPolicy) -> Mailbox {
    Mailbox(at: placeholder, number: posted, policy: policy)
  }

  /// The subscriptions of the object that lives at an address, or of one that did.
  func subscriptions(at address: ObjectIdentifier) -> [SubscriptionNode] {
    (members[address].map { [$0] } ?? []) + (identifiedByAddress[address] ?? [])
  }

  mutating func insert(_ node: SubscriptionNode, as identity: Identity?) {
    index(node, as: identity)
    population += 1
    changes.joined.append(node)
  }

  /// Gives an open subscription another identity.
  mutating func move(_ node: SubscriptionNode, from former: Identity?, to identity: Identity?) {
    unindex(node, as: former)
    index(node, as: identity)
  }

  /// What the removal of a subscription leaves.
  struct Departure: Sendable {
    /// How many notifications had been posted by then.
    var end: Int
    /// Nobody is left.
    var isLast: Bool
    /// The actor should be woken for the sake of memory alone.
    var isHeavy: Bool
  }

  /// Removes an open subscription and forbids its calls; `nil` if it was closed before.
  mutating func remove(_ node: SubscriptionNode) -> Departure? {
    guard node.isOpen else { return nil }
    unindex(node, as: node.identity)
    node.forbidCalls()
    noteDepartures(1)
    return Departure(end: posted, isLast: population == 0, isHeavy: isHeavy)
  }

  /// Removes all subscriptions and forbids their calls.
  mutating func removeAll() -> [SubscriptionNode] {
    var nodes = Array(members.values)
    for bucket in identified.values { nodes += bucket }
    members = [:]
    identified = [:]
    identifiedByAddress = [:]
    for node in nodes { node.forbidCalls() }
    noteDepartures(nodes.count)
    return nodes
  }

  private mutating func index(_ node: SubscriptionNode, as identity: Identity?) {
    if let identity {
      identified[identity.hash, default: []].append(node)
      identifiedByAddress[node.reference.identity, default: []].append(node)
    } else {
      members[node.reference.identity] = node
    }
  }

  private mutating func unindex(_ node: SubscriptionNode, as identity: Identity?) {
    if let identity {
      Self.remove(node, from: &identified, at: identity.hash)
      Self.remove(node, from: &identifiedByAddress, at: node.reference.identity)
    } else if members[node.reference.identity] === node {
      members[node.reference.identity] = nil
    }
  }

  private static func remove<Key>(
    _ node: SubscriptionNode, from buckets: inout [Key: [SubscriptionNode]], at key: Key
  ) {
    buckets[key]?.removeAll { $0 === node }
    if buckets[key]?.isEmpty == true { buckets[key] = nil }
  }

  mutating func reorder() {
    changes.isReordered = true
  }

  private mutating func noteDepartures(_ count: Int) {
    population -= count
    changes.left += count
  }

  // MARK: For the hub's actor

  mutating func takeChanges() -> Changes {
    defer { changes = Changes(topic: topic) }
    return changes
  }

  /// Whether the actor should be woken for the sake of memory alone.
  var isHeavy: Bool {
    changes.joined.count + changes.left >= Self.smallestSweep
  }

  /// Whether it is time to look for dead subscribers; says so once until ``didSweep()``.
  mutating func takeSweep() -> Bool {
    guard population >= sweepPopulation else { return false }
    sweepPopulation = .max
    return true
  }

  /// Sets the next time to look so that the work stays proportional to the subscriptions made.
  mutating func didSweep() {
    sweepPopulation = Swift.max(Self.smallestSweep, population * 2)
  }
}
