internal import Synchronization

/// What synchronous code says to a hub, in one order, under the library's one hub-wide lock.
///
/// The order of these lock sections is the hub's total order: a notification is addressed to the
/// subscriptions that are open in the section in which it is posted. Each section takes a time that does
/// not grow with anything, for posters wait for it: no other lock is taken in it that somebody may hold for
/// long, and what takes longer is done after it (``Effects``) or left to the hub's actor (sorting,
/// snapshots, fan-outs), which is told of it by a ``Wake``.
@usableFromInline
final class Inbox: SubscriptionOwner {
  /// What the actor takes over each time it is entered.
  struct Updates: Sendable {
    var changes: [TopicIndex.Changes] = []
    var pendingWork = PendingWork()
  }

  /// What the actor takes over when it is woken.
  struct PendingWork: Sendable {
    /// Topics with notifications to fan out.
    var pending: [Topic] = []
    /// Subscriptions that something waits for and that no fan-out may come by.
    var due: [SubscriptionNode] = []
    /// Topics to look for dead subscribers in.
    var sweeps: [Topic] = []
  }

  struct State: Sendable {
    var indexes: [ObjectIdentifier: TopicIndex] = [:]
    /// The indexes' topics, to be gone through outside the lock.
    var topics: [Topic] = []
    /// Those with changes.
    var changed: [Topic] = []
    var pendingWork = PendingWork()
    /// How many wakes have been answered, which is also the number of the next one.
    var wakes = 0
    var lastSerial = 0
    var lastVersion = 0
    /// How many protocols with subscribers there are for each bit of `interest`.
    var interested = [Int32](repeating: 0, count: 64)
  }

  /// Where a protocol's index is.
  typealias Place = Dictionary<ObjectIdentifier, TopicIndex>.Index

  /// Tells the user of what went wrong with a subscription, without waiting for that.
  typealias Report =
    @Sendable (IncidentCause, CallKind, _ of: SubscriptionNode, _ named: SubscriberName) -> Void

  let state = Lock(State())
  let activity: Activity
  private let report: Report
  let wake = Wake()
  /// Whether there are changes that the actor has not taken.
  ///
  /// Written under the lock, set before the call that made the change returns: whoever looks after that
  /// call sees it.
  private let changesFlag = Atomic<Bool>(false)
  /// A bit for each protocol that may have subscribers, several protocols sharing one.
  ///
  /// Written under the lock. A protocol with subscribers always has its bit set, so posting to nobody
  /// takes no lock; one bit may be set for another protocol.
  private let interest = Atomic<UInt64>(0)
  /// Starts the task that a wake is, as long as there is a hub; set when the hub is made.
  private let waker = Lock<Waker?>(nil)

  /// A closure in a struct: one that is a lock's state itself would be wrapped once more, for good,
  /// by each look at it.
  private struct Waker: Sendable {
    let start: @Sendable () -> Void
  }

  init(activity: Activity = Activity(), report: @escaping Report = { _, _, _, _ in }) {
    self.activity = activity
    self.report = report
  }

  func report(
    _ cause: IncidentCause, in call: CallKind, of node: SubscriptionNode, named name: SubscriberName
  ) {
    report(cause, call, node, name)
  }

  /// Sets what sends wakes.
  ///
  /// - Parameter start: claims the wake and starts its task, if there is a hub.
  func setWaker(_ start: @escaping @Sendable () -> Void) {
    waker.withLock { $0 = Waker(start: start) }
  }

  /// Sends a wake that is asked for, if there is a hub and nobody else has.
  func sendWake() {
    waker.withLock({ $0 })?.start()
  }

  /// Asks for a wake, unless one is on its way.
  ///
  /// Called under the lock.
  func askForWake() {
    if wake.ask() { activity.begin() }
  }

  /// Whether there are changes for ``takeUpdates(asWake:)`` to hand over.
  var hasChanges: Bool { changesFlag.load(ordering: .acquiring) }

  // MARK: Telling

  /// Whether anybody may be subscribed to a protocol; if not, nobody is.
  @usableFromInline
  func mayReach(_ key: ObjectIdentifier) -> Bool {
    interest.load(ordering: .acquiring) & 1 << Self.bit(of: key) != 0
  }

  private static func bit(of key: ObjectIdentifier) -> Int {
    // Addresses differ above their alignment; the golden ratio spreads them over the upper bits.
    Int((UInt64(UInt(bitPattern: key)) &* 0x9E37_79B9_7F4A_7C15) >> 58)
  }

  /// Notes that a protocol has come to have subscribers, or has lost the last one.
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

  /// Appends a notification, if anybody is subscribed.
  ///
  /// To be called while the hub is alive: then what is posted is delivered, whatever becomes of the hub.
  func post(_ content: Notification.Content, to key: ObjectIdentifier) {
    let placeholder = Notification()
    update { state, effects in
      // Found once and changed in place: an index that is only looked at is copied for it.
      guard let place = state.indexes.index(forKey: key) else { return }
      effects.notification =
        state.indexes.values[place].postIfHeard(content, followedBy: placeholder)
      guard effects.notification != nil else { return }
      if state.indexes.values[place].markPending(for: state.wakes) {
        state.pendingWork.pending.append(state.indexes.values[place].topic)
      }
      askForWake()
    }
  }

  /// Sees to it that a worker comes by at a subscription that something waits for.
  func requestWorker(for node: SubscriptionNode) {
    update { state, _ in
      state.pendingWork.due.append(node)
      askForWake()
    }
  }

  // MARK: For the hub's actor

  /// Changes who is subscribed to a protocol, and remembers that for the actor.
  ///
  /// Called under the lock.
  @discardableResult
  func change<Result>(
    at place: Place, _ state: inout State, _ body: (inout State) -> Result
  ) -> Result {
    // Only the outcome is told: a take-over of the only subscription is no moment without any.
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

  /// Hands over what has happened since the last time.
  ///
  /// - Parameter isWake: whether this is the wake that was asked for, which alone takes the
  ///   notifications and the sweeps.
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
    // What is said between the sections may be taken now or the next time, for each protocol by itself.
    while !changed.isEmpty {
      let topics = changed.prefix(Self.takenAtOnce)
      changed = changed.dropFirst(Self.takenAtOnce)
      updates.changes += state.withLock { state in
        topics.compactMap { state.indexes[$0.key]?.takeChanges() }
      }
    }
    return updates
  }

  /// How many notifications were posted on a topic, and to how many subscribers altogether.
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

  /// Forgets everything, when the hub is released: inbox and subscriptions refer to each other.
  func clear() {
    // A wake that nobody has claimed never comes.
    let isAsked = wake.close()
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
