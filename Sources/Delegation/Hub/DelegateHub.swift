/// Calls a protocol's methods on any number of objects, which it holds weakly.
///
/// Objects subscribe to a protocol. The owner of the hub calls the protocol's methods on all of
/// them: without waiting (`notify`), or awaiting and combining what they return (``vote(_:by:_:)-2k4ay``,
/// ``ask(_:combining:_:)-8kxs4``, ``collect(_:within:_:)``, ``askInTurn(_:_:)``, ``pass(_:through:_:)``).
///
/// A call reaches the objects that were subscribed when it was made. The protocol is the key: the protocols
/// of one hub are independent of each other except for the order of calls, and for the time that the actor needs to
/// sort one with very many subscribers after a change.
///
/// **Isolation.** The actor guards only the hub's own state. Handlers, `deinit`s of subscribers and
/// your closures never run on it, nor under a lock of the library. So you may call every method
/// from every handler.
///
/// **Order.** Synchronous calls from one thread take effect in program order. All calls on one hub
/// have one order.
///
/// **Lifetime.** What was posted is delivered even if the hub is released; then the subscriptions end.
///
/// ```swift
/// protocol WorkerDelegate: AnyObject, Sendable {
///   func worker(_ worker: Worker, shouldPerform subtask: Subtask) async -> Bool
///   func worker(_ worker: Worker, didPerform subtask: Subtask)
/// }
///
/// let hub = DelegateHub()
/// hub.subscribe(quota, to: WorkerDelegate.self)
///
/// if await hub.vote(WorkerDelegate.self, { await $0.worker(self, shouldPerform: subtask) }) {
///   perform(subtask)
///   hub.notify(WorkerDelegate.self) { $0.worker(self, didPerform: subtask) }
/// }
/// ```
public actor DelegateHub {
  /// The hub's settings.
  public nonisolated let configuration: Configuration

  /// What synchronous code has told the hub.
  @usableFromInline
  nonisolated let inbox: Inbox

  /// The watch for slow handlers, if the configuration has a limit.
  @usableFromInline
  nonisolated var slowWatch: SlowWatch? { surroundings?.slowWatch }

  /// What is done around handlers, if anything is.
  @usableFromInline
  nonisolated let surroundings: Surroundings?

  /// Whether a single subscriber can be asked without a round, as far as it is for the hub to say.
  nonisolated let mayAskAlone: Bool

  /// Whether a loop does all that handlers need.
  @usableFromInline
  nonisolated let mayAskInPlace: Bool

  /// Whether a notification carries more than its handler.
  nonisolated let isWrapping: Bool

  /// The executor of the hub's work and of handlers; `nil` for the default.
  @usableFromInline
  nonisolated let executor: (any TaskExecutor)?

  /// The executor for calls of tasks that prefer another one; deadlines run there as well.
  ///
  /// It is not the hub's, unless the clock is a test's: the hub's may be busy, and a call has to return by
  /// its deadline all the same.
  @usableFromInline
  nonisolated let ownExecutor: any TaskExecutor

  /// Sets the deadlines of calls.
  @usableFromInline
  nonisolated let deadlines: DeadlineQueue

  /// Reports incidents to the user.
  private nonisolated let reporter: IncidentReporter

  /// The subscriptions of each protocol, as of the last time the inbox's changes were applied.
  private var rosters: [ObjectIdentifier: Roster] = [:]

  /// The snapshots of these that questions have asked for.
  private nonisolated let published = Lock(PublishedSnapshots())

  /// Makes a hub without subscribers.
  ///
  /// - Parameter configuration: the hub's settings.
  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    let executor = handlerExecutor(for: configuration.executor)
    self.executor = executor
    // In real time deadlines do not run on the hub's executor, which may be busy. Any other clock is assumed
    // to be a test's: then they run on the hub's executor, so that the test controls the whole hub.
    let clock = configuration.clock
    let isRealTime = clock is ContinuousClock || clock is SuspendingClock
    ownExecutor = (isRealTime ? nil : executor) ?? globalConcurrentExecutor
    deadlines = DeadlineQueue(
      clock: clock, executor: isRealTime ? nil : executor, sharingSleepers: isRealTime)
    surroundings = Surroundings(
      slowWatch: configuration.makeSlowWatch(by: deadlines),
      interception: Interception(configuration.interceptors, now: deadlines.now))
    mayAskAlone = executor == nil && configuration.interceptors.isEmpty
    mayAskInPlace = executor == nil && surroundings == nil
    isWrapping = !(configuration.interceptors.isEmpty && configuration.propagating.isEmpty)
    let activity = Activity()
    let reporter = IncidentReporter(
      configuration, on: executor, by: deadlines.now, countedBy: activity)
    self.reporter = reporter
    inbox = Inbox(activity: activity) { [weak reporter] in reporter?.report($0) }
    inbox.setWaker { [weak self] in
      // Claimed with a reference to the hub, so that what is claimed is done.
      guard let self, self.inbox.wake.claim() else { return }
      Task.startDetached(on: executor, priority: self.inbox.wake.priority) { await self.work() }
    }
  }

  deinit {
    inbox.clear()
  }

  // MARK: Applying the inbox's changes

  /// What a wake has to do: lanes, and searches for dead subscribers.
  typealias Work = (lanes: [Lane], sweeps: [(topic: Topic, nodes: [SubscriptionNode])])

  /// The subscriptions of a protocol, in order, if none has changed since a question asked for them.
  @usableFromInline
  nonisolated func publishedSnapshot(of key: ObjectIdentifier) -> [SubscriptionNode]? {
    if inbox.mayReach(key) { return published.withLock { $0.present(of: key) } }
    // If the last one has ended, the actor still keeps it, and is to forget it.
    return inbox.hasChanges ? nil : []
  }

  /// The subscriptions of a protocol, in order, which it publishes for later questions.
  func snapshot(of key: ObjectIdentifier) -> [SubscriptionNode] {
    if inbox.hasChanges { apply(inbox.takeUpdates(asWake: false)) }
    guard let index = rosters.index(forKey: key) else { return [] }
    let nodes = rosters.values[index].snapshot()
    let (topic, number) = (rosters.values[index].topic, rosters.values[index].number)
    published.withLock { $0.publish(nodes, of: topic, asOf: number) }
    return nodes
  }

  private func inOrder(_ key: ObjectIdentifier) -> [SubscriptionNode] {
    guard let index = rosters.index(forKey: key) else { return [] }
    return rosters.values[index].snapshot()
  }

  private func takeWork() -> Work {
    let updates = inbox.takeUpdates(asWake: true)
    apply(updates)
    var snapshots = updates.pendingWork.pending.map { inOrder($0.key) }
    if !updates.pendingWork.due.isEmpty { snapshots.append(updates.pendingWork.due) }
    return (
      snapshots.map { Lane(delivering: $0, for: self) },
      updates.pendingWork.sweeps.map { ($0, inOrder($0.key)) }
    )
  }

  private func apply(_ updates: Inbox.Updates) {
    for changes in updates.changes {
      let withdrawn = published.withLock { $0.withdraw(changes.topic) }
      withExtendedLifetime(withdrawn) {}
      rosters[changes.topic.key, default: Roster(topic: changes.topic)]
        .apply(changes)
    }
  }

  /// Copies of all rosters, to be inspected off the actor: that may release subscribers.
  func overview() -> [Roster] {
    apply(inbox.takeUpdates(asWake: false))
    // By index, so that a roster is not copied when it sorts.
    return rosters.indices.map { rosters.values[$0].overview() }
  }

  // MARK: Waking

  /// Applies the inbox's changes, then runs the first worker of the first lane itself.
  private nonisolated func work() async {
    if let first = begin(await takeWork()) { await first.work() }
    inbox.activity.end()
  }

  /// Begins a wake's work, and keeps nothing of it.
  ///
  /// - Returns: the first lane, whose first worker runs in the current task.
  private nonisolated func begin(_ work: Work) -> Lane? {
    for sweep in work.sweeps {
      inbox.activity.begin()
      Task.startDetached(on: executor) {
        for node in sweep.nodes where !node.reference.isAlive { node.terminate(as: .expired) }
        self.inbox.didSweep(sweep.topic)
        self.inbox.activity.end()
      }
    }
    for lane in work.lanes.dropFirst() { lane.requestWorker() }
    return work.lanes.first
  }
}

extension DelegateHub: Workplace {
  @usableFromInline
  nonisolated var activity: Activity { inbox.activity }

  /// Whether the current task prefers an executor that is neither the hub's nor the global one.
  ///
  /// The hub's actor would run on that executor, for all callers, and so would handlers without an executor
  /// of their own. So calls of such a task are made again with ``ownExecutor`` as the preference: if the
  /// caller's executor is busy, only that caller waits.
  @usableFromInline
  nonisolated var isCalledOnOtherExecutor: Bool {
    withUnsafeCurrentTask { task in
      guard let preferred = task?.unownedTaskExecutor else { return false }
      return preferred != globalConcurrentExecutor.asUnownedTaskExecutor()
        && preferred != executor?.asUnownedTaskExecutor()
        && preferred != configuration.executor?.asUnownedTaskExecutor()
    }
  }

  /// Whether the current task prefers the hub's executor, and so runs there.
  nonisolated var isCalledOnOwnExecutor: Bool {
    guard let executor else { return false }
    return withUnsafeCurrentTask { task in
      task?.unownedTaskExecutor == executor.asUnownedTaskExecutor()
    }
  }

  /// The subscriptions of a protocol, in order; the actor is entered only if one has changed.
  @inlinable
  @inline(__always)
  nonisolated func subscriptions(of key: ObjectIdentifier) async -> [SubscriptionNode] {
    if let published = publishedSnapshot(of: key) { return published }
    return await changedSubscriptions(of: key)
  }

  /// Enters the actor, for a caller that may prefer another executor.
  @usableFromInline
  nonisolated func changedSubscriptions(of key: ObjectIdentifier) async -> [SubscriptionNode] {
    guard isCalledOnOtherExecutor else { return await snapshot(of: key) }
    return await withTaskExecutorPreference(ownExecutor) { await self.snapshot(of: key) }
  }

  /// Waits for a goal, for a caller that may prefer another executor.
  ///
  /// Whoever reaches the goal would call `enqueue` of the caller's executor, which may block or run the
  /// caller at once.
  nonisolated(nonsending) func wait(for goal: WaitGoal, until deadline: Deadline?) async -> Bool {
    guard isCalledOnOtherExecutor else { return await goal.wait(until: deadline) }
    return await withTaskExecutorPreference(ownExecutor) { @concurrent in
      await goal.wait(until: deadline)
    }
  }

  /// Copies of all rosters, for a caller that may prefer another executor.
  nonisolated func allSubscriptions() async -> [Roster] {
    guard isCalledOnOtherExecutor else { return await overview() }
    return await withTaskExecutorPreference(ownExecutor) { await self.overview() }
  }
}
