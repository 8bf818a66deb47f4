/// Calls a protocol's methods on any number of objects, which it holds weakly.
///
/// Objects subscribe to a protocol. The owner of the hub calls the protocol's methods on all of
/// them: without waiting (`notify`), or awaiting and combining what they return (`vote`,
/// `ask`, `collect`, `askInTurn`, `pass`).
///
/// A call reaches the objects that were subscribed when it was made. The protocols of one hub are independent of each
/// other.
///
/// **Isolation.** The hub is an actor so that you can extend it: none of its calls runs on it or waits for it.
/// `forEach` calls handlers where the caller is; all other calls run handlers off the hub's actor, and no code of yours
/// runs under a lock of the library. So you may call every method from every handler.
///
/// **Order.** Synchronous calls from one thread take effect in program order. All calls on one hub have one order, and
/// each finds who is subscribed at its point in that order.
///
/// **Lifetime.** What was posted is delivered even if the hub is released; then the subscriptions end.
///
/// ```swift
/// protocol WorkerGate: AnyObject, Sendable {  // decides
///   func worker(_ worker: Worker, shouldPerform subtask: Subtask) async -> Bool
/// }
/// protocol WorkerObserver: AnyObject, Sendable {  // is told
///   func worker(_ worker: Worker, didPerform subtask: Subtask)
/// }
///
/// let hub = DelegateHub()
/// hub.subscribe(quota, toEachOf: WorkerGate.self, WorkerObserver.self)  // held weakly
///
/// // False if no gate has answered, because it has died, say.
/// let mayPerform = await hub[WorkerGate.self].vote(by: .unanimous(ofAtLeast: 1)) {
///   await $0.worker(self, shouldPerform: subtask)
/// }
/// if mayPerform {
///   perform(subtask)
///   hub[WorkerObserver.self].notify { $0.worker(self, didPerform: subtask) }
/// }
/// ```
public actor DelegateHub {
  /// The hub's settings.
  public nonisolated let configuration: Configuration

  @usableFromInline
  nonisolated let core: HubCore

  /// Makes a hub without subscribers.
  ///
  /// **Errors.** A ``Configuration/slowAfter`` of zero or less stops the program with a message.
  ///
  /// - Parameter configuration: the hub's settings.
  /// - Complexity: O(1).
  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    let executor = handlerExecutor(for: configuration.executor)
    // In real time, deadlines do not run on the hub's executor, which may be busy; by a test's clock they do, so that
    // the test controls the whole hub.
    let clock = configuration.clock
    let isRealTime = clock is ContinuousClock || clock is SuspendingClock
    let deadlines = DeadlineQueue(
      clock: clock, executor: isRealTime ? nil : executor, sharingSleepers: isRealTime)
    let watch: (any Interceptor)? = configuration.makeSlowWatch(by: deadlines)
    core = HubCore(
      on: executor, within: [watch].compactMap(\.self) + configuration.interceptors,
      propagating: configuration.propagating, by: deadlines, telling: configuration.onIncident)
    core.hub = self
  }

  deinit { for topic in core.topics.all { topic.close() } }
}
