/// Calls a protocol's methods on any number of objects, which it holds weakly.
///
/// Objects subscribe to a protocol; the owner of the hub calls the protocol's methods on all of them,
/// without waiting (`notify`) or awaiting and combining what they return
/// (``vote(_:by:_:)``, ``ask(_:combining:_:)``, ``collect(_:within:_:)``, ``askInTurn(_:_:)``,
/// ``pass(_:through:_:)``).
///
/// A call reaches those who were subscribed when it was made. What is subscribed to is the key: the
/// protocols that one hub serves have nothing to do with each other but for the order of calls.
///
/// **Isolation.** The actor guards the hub's own books and nothing else: handlers, `deinit`s of
/// subscribers and the closures given to the hub never run on it, nor under a lock of the library, so
/// every method may be called from every handler.
///
/// **Order.** Synchronous calls of one thread take effect in program order, and all calls on one hub in
/// one total order.
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

  /// What synchronous code has said.
  @usableFromInline
  nonisolated let inbox: Inbox

  /// Notices slow handlers, if the configuration wants it.
  @usableFromInline
  nonisolated let slowWatch: SlowWatch?

  /// Where the hub's work and handlers run; `nil` for the default.
  @usableFromInline
  nonisolated let executor: (any TaskExecutor)?

  /// Where calls from elsewhere are made anew: where deadlines come, too.
  ///
  /// Not on the hub's executor, unless the clock is a test's: it may be busy, and a call has to return
  /// by its deadline all the same.
  @usableFromInline
  nonisolated let ownExecutor: any TaskExecutor

  /// Sets the deadlines of calls.
  @usableFromInline
  nonisolated let deadlines: any DeadlineSource

  /// Who is subscribed to what, as of the last time the inbox's changes were applied.
  private var rosters: [ObjectIdentifier: TopicRoster] = [:]

  /// Makes a hub without subscribers.
  ///
  /// - Parameter configuration: the hub's settings.
  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    let executor = handlerExecutor(for: configuration.executor)
    self.executor = executor
    slowWatch = Self.makeSlowWatch(configuration)
    let deadlinesExecutor = Self.deadlinesExecutor(of: configuration)
    ownExecutor = deadlinesExecutor ?? globalConcurrentExecutor
    deadlines = Self.makeDeadlines(configuration, on: deadlinesExecutor)
    let activity = Activity()
    let reporter = IncidentReporter(configuration.onIncident, on: executor, activity: activity)
    inbox = Inbox(activity: activity) { mishap, call, node, name in
      reporter.report(Incident(mishap, in: call, of: node, named: name))
    }
    inbox.setWaker { [weak self] in
      // Claimed by somebody who has the hub, so that what is claimed is done.
      guard let self, self.inbox.wake.claim() else { return }
      Task.startDetached(on: executor) { await self.work() }
    }
  }

  deinit {
    inbox.clear()
  }

  // MARK: Applying the inbox's changes

  /// What a wake has to do.
  struct Duties: Sendable {
    var fanOuts: [[SubscriptionNode]]
    var sweeps: [(topic: Topic, nodes: [SubscriptionNode])]
  }

  /// The subscriptions of a protocol, in order.
  @usableFromInline
  func snapshot(of key: ObjectIdentifier) -> [SubscriptionNode] {
    if inbox.hasChanges { apply(inbox.takeNews(asWake: false)) }
    return inOrder(key)
  }

  private func inOrder(_ key: ObjectIdentifier) -> [SubscriptionNode] {
    guard let index = rosters.index(forKey: key) else { return [] }
    return rosters.values[index].snapshot()
  }

  private func takeDuties() -> Duties {
    let news = inbox.takeNews(asWake: true)
    apply(news)
    var fanOuts = news.duties.pending.map { inOrder($0.key) }
    if !news.duties.due.isEmpty { fanOuts.append(news.duties.due) }
    return Duties(fanOuts: fanOuts, sweeps: news.duties.sweeps.map { ($0, inOrder($0.key)) })
  }

  private func apply(_ news: Inbox.News) {
    for changes in news.changes {
      rosters[changes.topic.key, default: TopicRoster(topic: changes.topic)]
        .apply(changes)
    }
  }

  /// Everything there is to look into, for the caller to look off the actor: what it looks at may be
  /// released by that.
  func overview() -> [TopicRoster.Overview] {
    apply(inbox.takeNews(asWake: false))
    // By index, so that none is copied while it sorts.
    return rosters.indices.map { rosters.values[$0].overview() }
  }

  // MARK: Waking

  /// Applies the inbox's changes, then is the first worker of the first fan-out itself.
  private nonisolated func work() async {
    if let first = begin(await takeDuties()) { await first.workAsStandby() }
    inbox.activity.end()
  }

  /// Begins what a wake has to do, and keeps nothing of it.
  ///
  /// - Returns: the first fan-out, for the present task to be the first worker of.
  private nonisolated func begin(_ duties: Duties) -> FanOut? {
    for sweep in duties.sweeps {
      inbox.activity.begin()
      Task.startDetached(on: executor) {
        for node in sweep.nodes where !node.reference.isAlive { node.terminate(as: .expired) }
        self.inbox.didSweep(sweep.topic)
        self.inbox.activity.end()
      }
    }
    let fanOuts = duties.fanOuts.map { FanOut(delivering: $0, for: self) }
    for fanOut in fanOuts.dropFirst() { fanOut.summonWorker() }
    return fanOuts.first
  }
}
