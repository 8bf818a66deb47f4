internal import Synchronization

/// One protocol of a hub: its chain of notifications, and its subscriptions.
///
/// All posts and changes have one order, that of the sections of one lock: a notification is addressed to the
/// subscriptions that are open in the section that posts it. A section takes constant time, because posters wait for
/// it. What takes longer, or runs user code, is done after it (``TopicIndex/Effect``).
@usableFromInline
final class Topic: Sendable {
  private let type: Any.Type
  let key: ObjectIdentifier
  /// A number that no other topic ever has, not even another hub's topic of the same protocol.
  let number: Int

  private static let numbers = Atomic<Int>(0)

  /// How many notifications have been posted so far, which is also the number of the next one.
  ///
  /// Raised under the lock, after the notification was filled: a thread that has loaded a count may read the
  /// notifications with lower numbers.
  let published = Atomic<Int>(0)
  /// The number of the last notification with a receipt; -1 if there is none.
  ///
  /// Raised under the lock, before `published`: a thread that knows of a notification knows of its receipt.
  let lastReceipt = Atomic<Int>(-1)
  /// Whether anybody is subscribed, or posts are kept for replays; otherwise a call does nothing, without the lock.
  ///
  /// Written under the lock.
  let isNeeded = Atomic<Bool>(false)
  weak let owner: (any TopicOwner)?
  private static let ownerless = DeadlineQueue(clock: ContinuousClock(), executor: nil)
  let hubNumber: Int
  let state = Lock(TopicIndex())

  /// This topic's children in the hub's tree of topics.
  fileprivate let left = SetOnce<Topic>()
  fileprivate let right = SetOnce<Topic>()

  /// The tasks that wait for a subscription's handlers to end, by the subscription.
  ///
  /// Invariant: the `awaited` bit of a subscription is set before its first waiter counts the running
  /// handlers, and is cleared only when its last waiter is removed.
  private let endWaiters = Lock<[ObjectIdentifier: WaitList]>([:])

  init(_ type: Any.Type, owner: any TopicOwner) {
    (self.type, key) = (type, ObjectIdentifier(type))
    (self.owner, hubNumber) = (owner, owner.number)
    number = Self.numbers.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// The queue of deadlines for waits; by the system's clock once the hub is gone.
  var deadlines: DeadlineQueue { owner?.deadlines ?? Self.ownerless }

  /// The protocol's name; `Events<Int>` for a protocol of events.
  var name: String {
    let name = Self.name(of: type)
    guard name.hasPrefix("any Delegation.EventReceiver<") else { return name }
    return "Events<\("\(type)".dropFirst("any EventReceiver<Self.EventReceiver.Event == ".count))"
  }

  /// A type's full name, without the address that Swift's name of a private type has, so it is the same in each run.
  static func name(of type: Any.Type) -> String {
    String(reflecting: type).split(separator: ".").filter { !$0.hasPrefix("(unknown context at ") }
      .joined(separator: ".")
  }

  // MARK: Who is subscribed

  /// The open subscriptions in order, as they were at one moment during the call.
  ///
  /// - Complexity: O(1) if nothing has changed since the last call; otherwise O(*n*), or O(*n* log *n*) if the order
  ///   may have changed.
  func snapshot() -> [SubscriptionNode] { state.withLock { $0.members.snapshot } ?? merge() }

  /// Merges the list of members, outside the lock.
  @inline(never)
  @discardableResult
  func merge() -> [SubscriptionNode] {
    var members = state.withLock { $0.members }
    let nodes = members.merge()
    state.withLock { $0.members.put(&members) }
    return nodes
  }

  /// Looks at all subscriptions at one moment.
  ///
  /// - Returns: the open subscriptions in order, then the ended ones whose handlers may run; and the sums of the counts
  ///   of all others.
  /// - Complexity: O(*n*) if the list is in order, otherwise O(*n* log *n*).
  func overview() -> (nodes: [SubscriptionNode], counts: Account, questions: QuestionAccount) {
    // Copies these fields only: while a copy of `kept` existed, a poster would have to copy its ring, too.
    let (members, open, ended, counts, questions) = state.withLock {
      ($0.members, $0.open, $0.ended, $0.counts, $0.questions)
    }
    let present = members.snapshot ?? MemberList.sorted(open.values)
    let nodes = present + MemberList.sorted(ended.values.flatMap(\.self))
    // Once this copy is released, a later section writes to the storage in place. The thread sanitizer does not see
    // that release; it sees that this thread took the lock after reading.
    state.withLock { _ in }
    withExtendedLifetime((members, open, ended)) {}
    return (nodes, counts, questions)
  }

  /// Lets the open subscription at a place begin, now that it need not wait for a replaced one's handler.
  ///
  /// The caller has counted a worker, which is counted off here after `resume` has requested one.
  func letReplacementBegin(at serial: Int) {
    // Found and changed in one section: otherwise a further replacement could inherit the flag `following`.
    let replacement = state.withLock { index in
      let replacement = index.replacements[serial]
      replacement?.contents.withLock { _ = $0.mailbox.flags.remove(.following) }
      return replacement
    }
    replacement?.resume()
    owner?.uncountWorker()
  }

  // MARK: Telling

  /// Appends a notification, if anybody is subscribed or posts are kept for replays.
  ///
  /// - Returns: whether the caller has to start a delivery, which is already counted as a worker.
  func post(_ content: Notification.Content, for owner: some TopicOwner) -> Bool {
    // The placeholder is taken out in the section: a reference to the new end of the chain would keep alive all that
    // others post before this returns.
    var spare: Notification? = Notification()
    var former: Notification.Content?
    let mustStart = state.withLock { index in
      guard index.hasAudience, let placeholder = spare.take() else { return false }
      former = index.post(content, to: number, followedBy: placeholder)
      // From here on threads without the lock see the notification.
      if content.receipt != nil { lastReceipt.store(index.posted - 1, ordering: .releasing) }
      published.wrappingAdd(1, ordering: .releasing)
      guard index.open.count > 0, !index.isDeliveryDue else { return false }
      index.isDeliveryDue = true
      owner.countWorker()
      return true
    }
    // The user's closures are released here, not under the lock.
    withExtendedLifetime((content, former)) {}
    return mustStart
  }

  /// Begins a requested delivery of all that was posted before.
  ///
  /// - Returns: the subscriptions that it serves.
  func beginDelivery() -> [SubscriptionNode] {
    state.withLock { index in
      index.isDeliveryDue = false
      return index.members.snapshot
    } ?? merge()
  }

  // MARK: Waiting for a subscription's handlers

  /// The receipt that was posted `count` receipts before another one; `nil` if all subscriptions have passed its
  /// notification, or there is none.
  func receipt(_ count: Int, before receipt: Receipt) -> Receipt? {
    if count <= 0 { return receipt }
    return receipt.position.flatMap { position in
      state.withLock { $0.receipts.find(position.order - count) { $0.order } }
    }
  }

  /// Lets `notifyAndWait(leaving:)` of notification `number` return without waiting for the running handler of a
  /// subscription that has ended.
  func noteEndedInHand(_ number: Int) {
    guard let receipt = state.withLock({ $0.receipts.find(number) { $0.number } }) else { return }
    receipt.endedInHand.wrappingAdd(1, ordering: .sequentiallyConsistent)
    receipt.outstanding.update(.recount)
  }

  /// Changes the list of tasks that wait for a subscription's handlers to end, and resumes those that need not wait any
  /// longer.
  ///
  /// Must not be called under a lock.
  func updateWaiters(for node: SubscriptionNode, _ change: WaitList.Change? = nil) {
    let fulfilled = endWaiters.withLock { waiters in
      var list = waiters.removeValue(forKey: ObjectIdentifier(node)) ?? WaitList()
      list.apply(change)
      // `awaited` is set before the handlers are counted: see `endWaiters`.
      node.setAwaited(!list.isEmpty)
      let fulfilled = list.takeFulfilled { node.runningCalls }
      node.setAwaited(!list.isEmpty)
      waiters[ObjectIdentifier(node)] = list.isEmpty ? nil : list
      return fulfilled
    }
    for (waiter, _) in fulfilled { waiter.resume(true) }
  }
}

/// The topics of one hub, which every thread finds without a lock.
///
/// The topics form a binary tree by the bits of the keys' hashes: a look-up takes a few steps more for many protocols
/// than for one. A topic stays until the hub is released.
struct TopicTable: ~Copyable, Sendable {
  private let root = SetOnce<Topic>()

  /// The topic of a protocol, if it was made before; otherwise `new`, which is added if it is given.
  func find(_ key: ObjectIdentifier, orAdding new: Topic? = nil) -> Topic? {
    var next = root.load(orSetting: new)
    // The lower bits of addresses are equal; multiplying by the golden ratio makes the upper bits differ.
    var bits = UInt64(UInt(bitPattern: key)) &* 0x9E37_79B9_7F4A_7C15
    while let topic = next, topic.key != key {
      next = bits >> 63 == 0 ? topic.left.load(orSetting: new) : topic.right.load(orSetting: new)
      bits <<= 1
    }
    return next
  }

  /// The topic of a protocol; makes it if there is none.
  func find(_ type: Any.Type, owner: any TopicOwner) -> Topic {
    let key = ObjectIdentifier(type)
    if let topic = find(key) { return topic }
    let new = Topic(type, owner: owner)
    return find(key, orAdding: new) ?? new
  }

  /// All topics, in the order in which they were made.
  var all: [Topic] {
    var (topics, next) = ([Topic](), [root.load()])
    while let topic = next.popLast() {
      guard let topic else { continue }
      topics.append(topic)
      next += [topic.left.load(), topic.right.load()]
    }
    return MemberList.indices(of: topics.map { (0, $0.number) }).map { topics[$0] }
  }
}

/// What a topic needs of its hub, which the topic does not keep alive.
protocol TopicOwner: AnyObject, Sendable {
  /// A number that no other hub ever has.
  var number: Int { get }
  var deadlines: DeadlineQueue { get }
  func countWorker()
  func uncountWorker()
  /// Reports an incident to the user, without waiting.
  ///
  /// Must not be called under a lock.
  func report(_ incident: DelegateHub.Incident)
  func requestWorker(for node: SubscriptionNode, priority: TaskPriority)
  /// Releases the options of a subscription that has ended, in a task of its own.
  func releaseOptions(of node: SubscriptionNode)
  /// Looks for dead subscribers in a task of its own, then counts off the worker that the caller has counted.
  func sweep(_ topic: Topic)
}
