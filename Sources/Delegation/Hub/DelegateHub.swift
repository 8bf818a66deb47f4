/// Calls a protocol's methods on any number of objects, which it holds weakly.
///
/// Objects subscribe to a protocol. The owner of the hub calls the protocol's methods on all of
/// them: without waiting (`notify`), or awaiting and combining what they return (``vote(_:by:_:)-2k4ay``,
/// ``ask(_:combining:_:)-8kxs4``, ``collect(_:within:_:)``, ``askInTurn(_:_:)``, ``pass(_:through:_:)``).
///
/// A call reaches the objects that were subscribed when it was made. The protocol is the key: the protocols
/// of one hub are independent of each other except for the order of calls.
///
/// **Isolation.** The hub is an actor as a place for extensions of your own: none of its calls runs on it or waits
/// for it. `forEach` calls handlers where you are; all others run off the actor, and nothing of yours runs under a
/// lock of the library. So you may call every method from every handler.
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

  /// Who is subscribed, by protocol, and what they are told.
  nonisolated let topics = Topics()

  /// What the topics need of the hub.
  nonisolated let dispatcher: Dispatcher

  /// Runs handlers within the interceptors, if there are any.
  @usableFromInline
  nonisolated let interception: Interception?

  /// Whether a loop does all that handlers need.
  @usableFromInline
  nonisolated let mayAskInPlace: Bool

  /// Whether a notification carries more than its handler.
  nonisolated let isWrapping: Bool

  /// The executor of the hub's work and of handlers; `nil` for the default.
  @usableFromInline
  nonisolated let executor: (any TaskExecutor)?

  /// Sets the deadlines of calls.
  @usableFromInline
  nonisolated let deadlines: DeadlineQueue

  /// Reports incidents to the user.
  private nonisolated let reporter: IncidentReporter

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
    deadlines = DeadlineQueue(
      clock: clock, executor: isRealTime ? nil : executor, sharingSleepers: isRealTime)
    let watch: (any Interceptor)? = configuration.makeSlowWatch(by: deadlines)
    interception = Interception(
      [watch].compactMap(\.self) + configuration.interceptors, now: deadlines.now)
    mayAskInPlace = executor == nil && interception == nil
    isWrapping = interception != nil || !configuration.propagating.isEmpty
    let activity = Activity(deadlines)
    let reporter = IncidentReporter(
      configuration, on: executor, by: deadlines.now, countedBy: activity)
    self.reporter = reporter
    dispatcher = Dispatcher(activity: activity) { [weak reporter] in reporter?.report($0) }
    dispatcher.workplace = self
  }

  deinit {
    for topic in topics.all { topic.terminateAll() }
  }

  /// The topic of a protocol, if anybody is subscribed.
  @usableFromInline
  nonisolated func heardTopic(of key: ObjectIdentifier) -> Topic? {
    guard let topic = topics.find(key), topic.isHeard.load(ordering: .acquiring) else { return nil }
    return topic
  }

  /// The subscriptions of a protocol in order.
  @usableFromInline
  nonisolated func snapshot(of key: ObjectIdentifier) -> [SubscriptionNode] {
    heardTopic(of: key)?.snapshot() ?? []
  }

  /// Starts the lane that a post has requested; what was posted is delivered even if the hub is released.
  nonisolated func startLane(of topic: Topic, priority: TaskPriority? = nil) {
    if let executor {
      Task<Void, any Error>.detached(executorPreference: executor, priority: priority) {
        await Lane(delivering: topic.beginLane(), for: self).work()
        self.activity.end()
      }
    } else {
      Task<Void, any Error>.detached(priority: priority) {
        await Lane(delivering: topic.beginLane(), for: self).work()
        self.activity.end()
      }
    }
  }
}

extension DelegateHub: Workplace {
  @usableFromInline
  nonisolated var activity: Activity { dispatcher.activity }
}
