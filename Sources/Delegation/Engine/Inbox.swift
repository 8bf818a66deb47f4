internal import Synchronization

/// What synchronous code says to a hub, in one order, under the library's one hub-wide lock.
///
/// The order of these lock sections is the hub's total order: a notification is addressed to the
/// subscriptions that are open in the section in which it is posted. Everything here is O(1); what
/// takes longer (sorting, snapshots, fan-outs) is left to the hub's actor, which is told of it by a
/// *wake*: a task that is counted in `activity` from the section that asks for it.
@usableFromInline
final class Inbox: Sendable {
  /// What to do after unlocking.
  enum Wake: Sendable {
    case needed
    case notNeeded
  }

  /// What the actor takes over each time it is entered.
  struct News: Sendable {
    var changes: [TopicIndex.Changes] = []
    /// Channels with notifications to fan out.
    var pending: [Topic] = []
    /// Channels to look for dead subscribers in.
    var sweeps: [Topic] = []
  }

  struct State: Sendable {
    var indexes: [ObjectIdentifier: TopicIndex] = [:]
    /// Keys of the indexes with changes.
    var changed: [ObjectIdentifier] = []
    /// Keys of the indexes with notifications that no fan-out has set out with.
    var pending: [ObjectIdentifier] = []
    var sweeps: [ObjectIdentifier] = []
    /// A wake is on its way that has not taken the news yet.
    var isWaking = false
    var lastSerial = 0
  }

  let state = Lock(State())
  let activity = Activity()
  /// What is told of the incidents of this hub's subscriptions.
  let incidents: IncidentReporter
  /// Whether there are changes that the actor has not taken.
  ///
  /// Written under the lock, set before the call that made the change returns: whoever looks after that
  /// call sees it.
  private let changesFlag = Atomic<Bool>(false)
  /// A bit for each protocol that may have subscribers, several protocols sharing one.
  ///
  /// Written under the lock. A protocol with subscribers always has its bit set, so posting to nobody
  /// takes no lock; a bit may be set for nothing.
  private let interest = Atomic<UInt64>(0)
  /// Starts the task that a wake is, as long as there is a hub; set when the hub is made.
  private let waker = Lock<Waker?>(nil)

  /// A closure in a struct: one that is a lock's state itself would be wrapped once more, for good,
  /// by each look at it.
  private struct Waker: Sendable {
    let start: @Sendable () -> Bool
  }

  init(
    onIncident hook: @escaping IncidentReporter.Hook = { _ in },
    executor: (any TaskExecutor)? = nil
  ) {
    incidents = IncidentReporter(hook, on: executor, activity: activity)
  }

  /// Sets what starts a wake's task.
  ///
  /// - Parameter start: returns whether it did.
  func setWaker(_ start: @escaping @Sendable () -> Bool) {
    waker.withLock { $0 = Waker(start: start) }
  }

  /// Sends a wake that was asked for under the lock, outside of it.
  func send(_ wake: Wake) {
    guard case .needed = wake, let waker = waker.withLock({ $0 }) else { return }
    if !waker.start() { workerEnded() }
  }

  /// Whether there are changes for ``takeNews(asWake:)`` to hand over.
  var hasChanges: Bool { changesFlag.load(ordering: .acquiring) }

  /// Remembers that a protocol has changes for the actor.
  ///
  /// Called under the lock.
  func noteChange(of key: ObjectIdentifier, in state: inout State) {
    if !state.changed.contains(key) { state.changed.append(key) }
    changesFlag.store(true, ordering: .releasing)
  }

  // MARK: Telling

  /// Whether anybody may be subscribed to a protocol; if not, nobody is.
  @usableFromInline
  func mayReach(_ key: ObjectIdentifier) -> Bool {
    interest.load(ordering: .acquiring) & Self.bit(of: key) != 0
  }

  /// Notes that a protocol has subscribers.
  ///
  /// Called under the lock.
  func noteInterest(in key: ObjectIdentifier) {
    interest.bitwiseOr(Self.bit(of: key), ordering: .acquiringAndReleasing)
  }

  /// Finds out anew which protocols have subscribers.
  ///
  /// Called under the lock.
  private func reviewInterest(in state: State) {
    let bits = state.indexes.reduce(into: 0 as UInt64) { bits, item in
      if item.value.population > 0 { bits |= Self.bit(of: item.key) }
    }
    interest.store(bits, ordering: .releasing)
  }

  private static func bit(of key: ObjectIdentifier) -> UInt64 {
    // Addresses differ above their alignment; the golden ratio spreads them over the upper bits.
    1 << ((UInt64(UInt(bitPattern: key)) &* 0x9E37_79B9_7F4A_7C15) >> 58)
  }

  /// Appends a notification, if anybody is subscribed.
  func post(_ content: Notification.Content, to key: ObjectIdentifier) {
    let placeholder = Notification()
    // `posting` keeps the notification until after the lock is released and the wake is sent.
    let (wake, posting) = state.withLock { state -> (Wake, TopicIndex.Posting?) in
      // Found once and changed in place: a topicIndex that is only looked at is copied for it.
      guard let index = state.indexes.index(forKey: key),
        let posting = state.indexes.values[index].postIfHeard(content, followedBy: placeholder)
      else { return (.notNeeded, nil) }
      if posting.isFirst { state.pending.append(key) }
      return (state.wake(counting: activity), posting)
    }
    send(wake)
    withExtendedLifetime(posting) {}
  }

  // MARK: Subscriptions

  /// Removes an open subscription and forbids its calls.
  ///
  /// - Returns: how many notifications had been posted by then, and the wake to send; `nil` if it was
  ///   closed before.
  func remove(_ node: SubscriptionNode) -> (end: Int, wake: Wake)? {
    state.withLock { state in
      let key = node.topic.key
      guard let departure = state.indexes[key]?.remove(node) else { return nil }
      noteChange(of: key, in: &state)
      if departure.isLast { reviewInterest(in: state) }
      return (departure.end, departure.isHeavy ? state.wake(counting: activity) : .notNeeded)
    }
  }

  /// Closes the subscriptions that are looked up, in one protocol or in all, as cancelled.
  ///
  /// - Parameters:
  ///   - key: the protocol; `nil` for all.
  ///   - lookUp: finds the candidates, under the lock.
  ///   - confirm: says whether a candidate is meant, outside the lock.
  func close(
    of key: ObjectIdentifier? = nil, lookUp: (TopicIndex) -> [SubscriptionNode],
    where confirm: (SubscriptionNode) -> Bool = { _ in true }
  ) {
    let candidates = state.withLock { state in
      if let key { return state.indexes[key].map(lookUp) ?? [] }
      return state.indexes.values.flatMap(lookUp)
    }
    for node in candidates where confirm(node) { node.close(as: .cancelled) }
  }

  /// Closes all subscriptions of a protocol, or of all protocols, as cancelled.
  func closeAll(of key: ObjectIdentifier? = nil) {
    let removed = state.withLock { state -> [(node: SubscriptionNode, end: Int)] in
      var removed: [(node: SubscriptionNode, end: Int)] = []
      for key in key.map({ [$0] }) ?? Array(state.indexes.keys) {
        guard let nodes = state.indexes[key]?.removeAll(), !nodes.isEmpty else { continue }
        let end = state.indexes[key]?.posted ?? 0
        removed += nodes.map { ($0, end) }
        noteChange(of: key, in: &state)
      }
      reviewInterest(in: state)
      return removed
    }
    for (node, end) in removed { node.settle(at: end, as: .cancelled) }
  }

  /// Forgets everything, when the hub is released: inbox and subscriptions refer to each other.
  func clear() {
    closeAll()
    let former = state.withLock { state in
      defer {
        state = State()
        changesFlag.store(false, ordering: .releasing)
      }
      return state
    }
    withExtendedLifetime(former) {}
  }

  // MARK: For the hub's actor

  /// Hands over what has happened since the last time.
  ///
  /// - Parameter isWake: whether this is the wake that was asked for, which alone takes the
  ///   notifications and the sweeps.
  /// - Returns: the news.
  func takeNews(asWake isWake: Bool) -> News {
    state.withLock { state in
      var news = News()
      for key in state.changed {
        if let changes = state.indexes[key]?.takeChanges() { news.changes.append(changes) }
      }
      state.changed.removeAll(keepingCapacity: true)
      changesFlag.store(false, ordering: .releasing)
      guard isWake else { return news }
      state.isWaking = false
      for key in state.pending {
        if let topic = state.indexes[key]?.beginFanOut() { news.pending.append(topic) }
      }
      state.pending.removeAll(keepingCapacity: true)
      for key in state.sweeps {
        if let topic = state.indexes[key]?.topic { news.sweeps.append(topic) }
      }
      state.sweeps.removeAll(keepingCapacity: true)
      return news
    }
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
}

extension Inbox.State {
  /// Asks for a wake unless one is on its way.
  mutating func wake(counting activity: Activity) -> Inbox.Wake {
    guard !isWaking else { return .notNeeded }
    isWaking = true
    activity.begin()
    return .needed
  }

  /// Asks for a wake to fan out what waits in a topic.
  mutating func wake(toFanOut key: ObjectIdentifier, counting activity: Activity) -> Inbox.Wake {
    if indexes[key]?.markPending() == true { pending.append(key) }
    return wake(counting: activity)
  }
}
