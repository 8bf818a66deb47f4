internal import Synchronization

/// One protocol's part of the inbox: the end of its chain, and who is subscribed.
///
/// Everything in here is done under the inbox's lock and takes a time that does not grow.
///
/// Invariant: `members` holds exactly the open subscriptions, no two of them at one address, so that
/// `population` is the number that a notification posted now is addressed to.
struct TopicIndex: Sendable {
  /// What the hub's actor has to learn about a protocol, in the order in which it is to be applied.
  struct Changes: Sendable {
    var topic: Topic
    var joined: [SubscriptionNode] = []
    /// Subscriptions whose places others have taken.
    var replaced: [(former: SubscriptionNode, successor: SubscriptionNode)] = []
    var ranked: [(node: SubscriptionNode, rank: Int)] = []
    var left = 0

    /// How many there are.
    var count: Int { joined.count + replaced.count + ranked.count + left }
  }

  /// A subscription under an id.
  ///
  /// Two are the same if the `Identity` is the same object: each call of `subscribe` makes one.
  struct Named: Sendable {
    let node: SubscriptionNode
    let identity: Identity

    func isSame(as other: Named) -> Bool { node === other.node && identity === other.identity }
  }

  let topic: Topic
  /// The empty end of the chain.
  private var placeholder = Notification()
  /// Subscriptions by the subscriber's address.
  ///
  /// An entry may be of a dead one until it is found out.
  private(set) var members = GradualTable<ObjectIdentifier, SubscriptionNode>()
  /// The ids of those that were subscribed with one, likewise.
  private var identities = GradualTable<ObjectIdentifier, Identity>()
  /// These by their ids' hashes.
  private var named = GradualTable<Int, [Named]>()
  private(set) var posted = 0
  /// Notifications times the subscribers each was addressed to.
  private(set) var addressed = 0
  /// The population at which to look for dead subscribers next.
  private var sweepPopulation = Self.smallestSweep
  private(set) var changes: Changes
  /// The inbox has noted that there are changes.
  private var isChanged = false
  /// Which wake is to fan out what was posted.
  private var pendingWake = -1

  private static let smallestSweep = 512

  init(topic: Topic) {
    self.topic = topic
    changes = Changes(topic: topic)
  }

  var population: Int { members.count }

  // MARK: Telling

  /// Appends a notification, unless there is nobody to hear it.
  ///
  /// - Returns: the notification, for the caller to release outside the lock: if nobody is left to hold
  ///   it, its captures die with it.
  mutating func postIfHeard(
    _ content: Notification.Content, followedBy next: Notification
  ) -> Notification? {
    population > 0 ? post(content, followedBy: next) : nil
  }

  /// Appends a notification.
  mutating func post(
    _ content: Notification.Content, followedBy next: Notification
  ) -> Notification {
    let notification = placeholder
    notification.fill(with: content, followedBy: next)
    if let receipt = content.receipt {
      receipt.open(number: posted, to: topic.number, addressees: population)
      topic.lastReceipt.store(posted, ordering: .releasing)
    }
    placeholder = next
    posted += 1
    addressed += population
    topic.published.wrappingAdd(1, ordering: .releasing)
    return notification
  }

  /// Notes that a wake is to fan out what was posted.
  ///
  /// - Parameter wake: the wake's number.
  /// - Returns: whether it was not to do so before.
  mutating func markPending(for wake: Int) -> Bool {
    defer { pendingWake = wake }
    return pendingWake != wake
  }

  // MARK: Subscriptions

  /// A mailbox that begins with what is posted next.
  func makeMailbox(_ policy: DelegateHub.MailboxPolicy, flags: Mailbox.Flags = []) -> Mailbox {
    Mailbox(at: placeholder, number: posted, policy: policy, flags: flags)
  }

  /// The subscription of the object that lives at an address, or of one that did.
  func subscription(at address: ObjectIdentifier) -> SubscriptionNode? { members[address] }

  /// The subscriptions with an id of that hash.
  func named(_ hash: Int) -> [Named] { named[hash] ?? [] }

  /// The id that an open subscription has.
  func identity(of node: SubscriptionNode) -> Identity? { identities[node.reference.identity] }

  /// Adds a subscription at whose address there is none.
  ///
  /// - Parameters:
  ///   - node: the subscription.
  ///   - identity: its id.
  ///   - former: the one that has just been terminated and whose place it takes.
  mutating func insert(
    _ node: SubscriptionNode, as identity: Identity?, inPlaceOf former: SubscriptionNode? = nil
  ) {
    members[node.reference.identity] = node
    if let identity { name(node, identity) }
    if let former {
      changes.left -= 1
      changes.replaced.append((former, node))
    } else {
      changes.joined.append(node)
    }
  }

  /// Gives an open subscription another id.
  ///
  /// - Returns: the former one, for the caller to release outside the lock.
  mutating func rename(_ node: SubscriptionNode, to identity: Identity) -> Identity? {
    let former = unname(node)
    name(node, identity)
    return former
  }

  /// Notes that a subscription is to be served in another order.
  mutating func rank(_ node: SubscriptionNode, _ rank: Int) {
    changes.ranked.append((node, rank))
  }

  /// What the end of a subscription leaves.
  struct Departure: Sendable {
    /// How many notifications had been posted by then.
    var end: Int
    /// For the caller to release outside the lock.
    var identity: Identity?
  }

  /// Ends an open subscription: from now on it is not posted to, and no call starts on it.
  ///
  /// - Returns: what that leaves; `nil` if it had ended before.
  mutating func terminate(_ node: SubscriptionNode) -> Departure? {
    guard node.isOpen else { return nil }
    let address = node.reference.identity
    if members[address] === node { members[address] = nil }
    let departure = Departure(end: posted, identity: unname(node))
    // In one section: the worker that leaves the mailbox looks for the entry.
    topic.succession.withLock { if node.forbidCalls() { $0.remember(node) } }
    changes.left += 1
    return departure
  }

  private mutating func name(_ node: SubscriptionNode, _ identity: Identity) {
    identities[node.reference.identity] = identity
    named.update(identity.hash) { $0 = ($0 ?? []) + [Named(node: node, identity: identity)] }
  }

  private mutating func unname(_ node: SubscriptionNode) -> Identity? {
    guard let identity = identities.removeValue(forKey: node.reference.identity) else { return nil }
    named.update(identity.hash) { bucket in
      bucket?.removeAll { $0.node === node }
      if bucket?.isEmpty == true { bucket = nil }
    }
    return identity
  }

  // MARK: For the hub's actor

  /// Notes that there are changes.
  ///
  /// - Returns: whether that was not noted before.
  mutating func markChanged() -> Bool {
    defer { isChanged = true }
    return !isChanged
  }

  mutating func takeChanges() -> Changes {
    defer {
      changes = Changes(topic: topic)
      isChanged = false
    }
    return changes
  }

  /// Whether the actor should be woken for the sake of memory alone.
  var isHeavy: Bool { changes.count >= Self.smallestSweep }

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
