internal import Synchronization

/// What synchronous code tells a hub, in one order, under one hub-wide lock.
///
/// The order of these lock sections is the hub's total order: a notification is addressed to the
/// subscriptions that are open in the section that posts it. Each section takes constant time, because
/// posters wait for it: it takes no other lock that a thread may hold for long, and what takes longer is
/// done after it (``Effects``) or left to the hub's actor (sorting, snapshots, lanes), for which a
/// ``Wake`` is requested.
@usableFromInline
final class Inbox: SubscriptionOwner {
  /// What the actor takes from the inbox each time it is entered.
  struct Updates: Sendable {
    var changes: [TopicIndex.Changes] = []
    var pendingWork = PendingWork()
  }

  /// What the actor has to do when it is woken.
  struct PendingWork: Sendable {
    /// Topics with notifications to fan out.
    var pending: [Topic] = []
    /// Subscriptions with pending notifications that may not be in a lane.
    var due: [SubscriptionNode] = []
    /// Topics to be searched for dead subscribers.
    var sweeps: [Topic] = []
  }

  struct State: Sendable {
    var indexes: [ObjectIdentifier: TopicIndex] = [:]
    /// The indexes' topics, for iterations outside the lock.
    var topics: [Topic] = []
    /// The topics with changes.
    var changed: [Topic] = []
    var pendingWork = PendingWork()
    /// How many wakes have been answered, which is also the number of the next one.
    var wakes = 0
    var lastSerial = 0
    /// How many protocols with subscribers there are for each bit of `interest`.
    var interested = [Int32](repeating: 0, count: 64)
  }

  /// Where a protocol's index is.
  typealias Place = Dictionary<ObjectIdentifier, TopicIndex>.Index

  let state = Lock(State())
  let activity: Activity
  private let tell: @Sendable (DelegateHub.Incident) -> Void
  let wake = Wake()
  /// Whether there are changes that the actor has not taken.
  ///
  /// Written under the lock, and set before the call that made the change returns, so that a later call
  /// sees it.
  private let changesFlag = Atomic<Bool>(false)
  /// A bit for each protocol that has subscribers; several protocols share one bit.
  ///
  /// Written under the lock. The bit of a protocol with subscribers is always set, so posting to nobody
  /// takes no lock; the bit may be set for another protocol.
  private let interest = Atomic<UInt64>(0)
  /// Starts a wake's task if the hub exists; set when the hub is made.
  private let waker = Lock<Waker?>(nil)

  /// A closure in a struct: each access to a closure that is a lock's state itself would wrap it once more,
  /// for good.
  private struct Waker: Sendable {
    let start: @Sendable () -> Void
  }

  /// - Parameters:
  ///   - activity: the hub's count of workers.
  ///   - tell: tells the user of an incident, without waiting.
  init(
    activity: Activity = Activity(),
    telling tell: @escaping @Sendable (DelegateHub.Incident) -> Void = { _ in }
  ) {
    self.activity = activity
    self.tell = tell
  }

  func report(_ incident: DelegateHub.Incident) { tell(incident) }

  /// Sets the closure that sends wakes.
  ///
  /// - Parameter start: claims the wake and starts its task, if the hub exists.
  func setWaker(_ start: @escaping @Sendable () -> Void) {
    waker.withLock { $0 = Waker(start: start) }
  }

  /// Sends a requested wake, if the hub exists and no other thread has sent it.
  func sendWake() {
    waker.withLock({ $0 })?.start()
  }

  /// Requests a wake, unless one has been requested.
  ///
  /// Called under the lock.
  func askForWake() {
    if wake.ask() { activity.begin() }
  }

  /// Whether there are changes for ``takeUpdates(asWake:)``.
  var hasChanges: Bool { changesFlag.load(ordering: .acquiring) }

  // MARK: Telling

  /// Whether a protocol may have subscribers; if false, it has none.
  @usableFromInline
  func mayReach(_ key: ObjectIdentifier) -> Bool {
    interest.load(ordering: .acquiring) & 1 << Self.bit(of: key) != 0
  }

  private static func bit(of key: ObjectIdentifier) -> Int {
    // Addresses differ above their alignment; the golden ratio spreads them over the upper bits.
    Int((UInt64(UInt(bitPattern: key)) &* 0x9E37_79B9_7F4A_7C15) >> 58)
  }

  /// Notes that a protocol has got its first subscriber, or has lost the last one.
  ///
  /// Called under the lock.
  func noteInterest(
    _ hasSubscribers: Bool, in key: ObjectIdentifier, _ state: inout State
  ) {
    let bit = Self.bit(of: key)
    state.interested[bit] += hasSubscribers ? 1 : -1
    if state.interested[bit] > 0 {
      interest.bitwiseOr(1 << bit, ordering: .acquiringAndReleasing)
    } else {
      interest.bitwiseAnd(~(1 << bit), ordering: .acquiringAndReleasing)
    }
  }

  /// Appends a notification, if the protocol has subscribers.
  ///
  /// To be called while the hub is alive: then the notification is delivered even if the hub is released.
  func post(_ content: Notification.Content, to key: ObjectIdentifier) {
    // Taken and released within the section, as is the notification itself: both refer to all that is posted
    // after them, and what is done after the section may take long.
    var spare: Notification? = Notification()
    update { state, _ in
      // By its place and in place: reading the index as a value would copy it.
      guard let place = state.indexes.index(forKey: key), let placeholder = spare.take() else {
        return
      }
      guard state.indexes.values[place].postIfHeard(content, followedBy: placeholder) != nil
      else { return }
      if state.indexes.values[place].markPending(for: state.wakes) {
        state.pendingWork.pending.append(state.indexes.values[place].topic)
      }
      askForWake()
    }
    // What the user gave is not released under the lock.
    withExtendedLifetime(content) {}
  }

  /// Requests a worker for a subscription that has pending notifications.
  func requestWorker(for node: SubscriptionNode) {
    update { state, _ in
      state.pendingWork.due.append(node)
      askForWake()
    }
  }

  // MARK: For the hub's actor

  /// Changes the subscriptions of a protocol, and notes that for the actor.
  ///
  /// Called under the lock.
  @discardableResult
  func change<Result>(
    at place: Place, _ state: inout State, _ body: (inout State) -> Result
  ) -> Result {
    // Compared before and after: when a successor replaces the only subscription, the interest stays.
    let hadSubscribers = state.indexes.values[place].population > 0
    let result = body(&state)
    let hasSubscribers = state.indexes.values[place].population > 0
    let topic = state.indexes.values[place].topic
    if hasSubscribers != hadSubscribers { noteInterest(hasSubscribers, in: topic.key, &state) }
    if state.indexes.values[place].markChanged() { state.changed.append(topic) }
    changesFlag.store(true, ordering: .releasing)
    if state.indexes.values[place].isHeavy { askForWake() }
    return result
  }

  /// How many protocols' changes are taken in one section.
  private static let takenAtOnce = 16

  /// Takes out what has happened since the last call.
  ///
  /// - Parameter isWake: whether the wake's task calls it, which alone takes the pending work.
  /// - Returns: the updates.
  func takeUpdates(asWake isWake: Bool) -> Updates {
    var (updates, changed) = state.withLock { state in
      var updates = Updates()
      if isWake {
        swap(&state.pendingWork, &updates.pendingWork)
        state.wakes += 1
        wake.answer()
      }
      var changed: [Topic] = []
      swap(&state.changed, &changed)
      changesFlag.store(false, ordering: .releasing)
      return (updates, changed[...])
    }
    // Changes between the sections are taken now or the next time, for each protocol by itself.
    while !changed.isEmpty {
      let topics = changed.prefix(Self.takenAtOnce)
      changed = changed.dropFirst(Self.takenAtOnce)
      updates.changes += state.withLock { state in
        topics.compactMap { state.indexes[$0.key]?.takeChanges() }
      }
    }
    return updates
  }

  /// How many notifications were posted on a topic, and the sum of their addressees.
  func totals(of topic: Topic) -> (posted: Int, addressed: Int) {
    state.withLock { state in
      let topicIndex = state.indexes[topic.key]
      return (topicIndex?.posted ?? 0, topicIndex?.addressed ?? 0)
    }
  }

  /// Ends a search for dead subscribers.
  func didSweep(_ topic: Topic) {
    state.withLock { $0.indexes[topic.key]?.didSweep() }
  }

  /// Removes everything when the hub is released, because inbox and subscriptions refer to each other.
  func clear() {
    // A wake that was not claimed is never sent. What would send it keeps the hub's executor.
    let isAsked = wake.close()
    let waker = waker.withLock { $0.take() }
    withExtendedLifetime(waker) {}
    terminateAll()
    if isAsked { activity.end() }
    let former = state.withLock { state in
      var former = State()
      swap(&state, &former)
      changesFlag.store(false, ordering: .releasing)
      return former
    }
    withExtendedLifetime(former) {}
  }
}

/// What is seen of the open subscriptions outside the lock.
extension Inbox {
  /// How many of a protocol's subscriptions are looked at for one that is alive.
  static var mostLooks: Int { 384 }

  /// Whether an open subscription of a protocol meets a condition.
  ///
  /// It goes through those that are open when it begins, and leaves out those that are added meanwhile.
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
    guard mayReach(key), let members = members(of: key) else { return false }
    var looks = 0
    for node in members.values {
      looks += 1
      if looks > most || condition(node) { return true }
    }
    return false
  }

  /// The open subscriptions of a protocol.
  ///
  /// As long as somebody keeps them, a change copies the part that it is in.
  func members(of key: ObjectIdentifier) -> Shards<SubscriptionNode>? {
    state.withLock { state in
      // By its place: reading the index as a value would copy it.
      state.indexes.index(forKey: key).map { state.indexes.values[$0].members }
    }
  }
}
