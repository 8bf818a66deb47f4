internal import Synchronization

/// One protocol's part of the inbox: the end of its chain, and its open subscriptions.
///
/// Everything in here is done under the inbox's lock and takes constant time.
///
/// Invariant: `members` has exactly the open subscriptions, and no two of one address. So `population` is
/// the number of subscriptions that a notification posted now is addressed to.
struct TopicIndex: Sendable {
  /// The changes of one protocol that the hub's actor has to apply, in this order.
  struct Changes: Sendable {
    var topic: Topic
    /// The number of the last of them.
    var number = 0
    var added: [SubscriptionNode] = []
    /// Subscriptions whose places successors have taken.
    var replaced: [(former: SubscriptionNode, successor: SubscriptionNode)] = []
    var ranked: [(node: SubscriptionNode, rank: Int)] = []
    var terminated = 0

    /// How many changes there are.
    var count: Int { added.count + replaced.count + ranked.count + terminated }
  }

  /// A subscription with an id.
  ///
  /// Two are the same only if the `Identity` is the same object: each call of `subscribe` makes one.
  typealias Named = (node: SubscriptionNode, identity: Identity)

  let topic: Topic
  /// The empty end of the chain.
  private var placeholder = Notification()
  /// Subscriptions by the subscriber's address.
  ///
  /// The subscriber of an entry may have died unnoticed.
  private(set) var members = Shards<SubscriptionNode>()
  /// The options of the subscriptions that have some, by the subscriber's address.
  private var options = Shards<SubscriptionOptions>()
  /// The subscriptions with ids, by the ids' hashes.
  private var named = Shards<[Named]>()
  /// Where the subscriptions come from; at most ``mostOrigins``.
  private var origins: [Origin] = []
  private(set) var posted = 0
  /// The sum over all notifications of the number of subscriptions that each was addressed to.
  private(set) var addressed = 0
  /// The population at which to look for dead subscribers next.
  private var sweepPopulation = Self.smallestSweep
  private(set) var changes: Changes
  /// Whether the inbox has noted that there are changes.
  private var isChanged = false
  /// The number of the wake that is to fan out what was posted.
  private var pendingWake = -1

  /// From how many on terminated or dead subscriptions are worth a task that frees their memory.
  static let smallestSweep = 512

  /// How many origins are remembered; later ones are each subscription's own.
  static let mostOrigins = 64

  init(topic: Topic) {
    self.topic = topic
    changes = Changes(topic: topic)
  }

  var population: Int { members.count }

  // MARK: Telling

  /// Appends a notification, unless nobody is subscribed.
  ///
  /// The caller keeps the content until after the lock: nobody else may keep it that long.
  ///
  /// - Returns: the notification, which refers to all that is posted after it.
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
  /// - Returns: whether that was not noted before.
  mutating func markPending(for wake: Int) -> Bool {
    defer { pendingWake = wake }
    return pendingWake != wake
  }

  // MARK: Subscriptions

  /// Makes a mailbox that begins with the next notification.
  func makeMailbox(_ policy: DelegateHub.MailboxPolicy, flags: Mailbox.Flags = []) -> Mailbox {
    Mailbox(at: placeholder, number: posted, policy: policy, flags: flags)
  }

  /// The origin of a subscription of that type from that line of the source.
  mutating func origin(of type: any AnyObject.Type, at site: Site) -> Origin {
    if let known = origins.first(where: { $0.type == type && $0.site == site }) { return known }
    let origin = Origin(type, at: site)
    if origins.count < Self.mostOrigins { origins.append(origin) }
    return origin
  }

  /// The subscription of the object at an address, which may be dead.
  func subscription(at address: ObjectIdentifier) -> SubscriptionNode? {
    members[Int(bitPattern: address)]
  }

  /// The subscriptions with an id of that hash.
  func named(_ hash: Int) -> [Named] { named[hash] ?? [] }

  /// The id that an open subscription has.
  func identity(of node: SubscriptionNode) -> Identity? { options[node.address]?.id }

  /// Adds a subscription, at whose address there must be none.
  ///
  /// - Parameters:
  ///   - node: the subscription.
  ///   - options: its options, if it has any.
  ///   - former: the subscription that was just terminated and whose place it takes.
  mutating func insert(
    _ node: SubscriptionNode, with options: SubscriptionOptions?,
    inPlaceOf former: SubscriptionNode? = nil
  ) {
    members[node.address] = node
    if let options { set(options, of: node) }
    if let former {
      changes.terminated -= 1
      changes.replaced.append((former, node))
    } else {
      changes.added.append(node)
    }
  }

  /// Changes the options of an open subscription.
  ///
  /// - Parameters:
  ///   - node: the subscription.
  ///   - newer: the options that are named.
  /// - Returns: all that it has now, and those that it had, for the caller to release outside the lock.
  mutating func change(
    _ node: SubscriptionNode, by newer: SubscriptionOptions
  ) -> (present: SubscriptionOptions, former: SubscriptionOptions?) {
    let former = removeOptions(of: node)
    let present = SubscriptionOptions(newer, over: former)
    set(present, of: node)
    return (present, former)
  }

  /// Notes that a subscription has another priority.
  mutating func rank(_ node: SubscriptionNode, _ rank: Int) {
    changes.ranked.append((node, rank))
  }

  /// Begins the termination of a subscription: no further notification is addressed to it, and no call
  /// starts on it.
  ///
  /// - Parameters:
  ///   - node: the subscription.
  ///   - isSucceeded: whether another one takes its id.
  /// - Returns: how many notifications had been posted, and its options, for the caller to release outside the
  ///   lock; `nil` if it was not open.
  mutating func terminate(
    _ node: SubscriptionNode, isSucceeded: Bool = false
  ) -> (end: Int, options: SubscriptionOptions?)? {
    guard node.isOpen else { return nil }
    if members[node.address] === node { members[node.address] = nil }
    let options = removeOptions(of: node)
    // In one lock section: who leaves the mailbox looks for the entry.
    topic.succession.withLock {
      if node.beginTermination(isSucceeded: isSucceeded) { $0.remember(node) }
    }
    changes.terminated += 1
    // After a peak the dead ones of a smaller population are looked for as early as before it.
    if sweepPopulation < .max {
      sweepPopulation = min(sweepPopulation, Swift.max(Self.smallestSweep, population * 4))
    }
    return (posted, options)
  }

  private mutating func set(_ options: SubscriptionOptions, of node: SubscriptionNode) {
    self.options[node.address] = options
    guard let identity = options.id else { return }
    named[identity.hash] = named(identity.hash) + [(node, identity)]
  }

  private mutating func removeOptions(of node: SubscriptionNode) -> SubscriptionOptions? {
    guard let former = options[node.address] else { return nil }
    options[node.address] = nil
    if let hash = former.id?.hash {
      let others = named(hash).filter { $0.node !== node }
      named[hash] = others.isEmpty ? nil : others
    }
    return former
  }

  // MARK: For the hub's actor

  /// Notes that there are changes, and numbers them.
  ///
  /// - Returns: whether that was not noted before.
  mutating func markChanged() -> Bool {
    defer { isChanged = true }
    changes.number = topic.lastChange.wrappingAdd(1, ordering: .releasing).newValue
    return !isChanged
  }

  mutating func takeChanges() -> Changes {
    defer {
      changes = Changes(topic: topic)
      isChanged = false
    }
    return changes
  }

  /// Whether there are so many changes that the actor should be woken to free their memory.
  var isHeavy: Bool { changes.count >= Self.smallestSweep }

  /// Whether it is time to look for dead subscribers; true once until ``didSweep()``.
  mutating func takeSweep() -> Bool {
    guard population >= sweepPopulation else { return false }
    sweepPopulation = .max
    return true
  }

  /// Sets the next population to look at, so that the work is proportional to the subscriptions made.
  mutating func didSweep() {
    sweepPopulation = Swift.max(Self.smallestSweep, population * 2)
  }
}
