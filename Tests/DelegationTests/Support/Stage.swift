@testable import Delegation

/// A hub whose work and whose time are driven by hand, on the test's own thread.
final class Stage: Sendable {
  let executor = ManualExecutor()
  let clock = ManualClock()
  private let held: Lock<DelegateHub?>

  var hub: DelegateHub {
    guard let hub = held.withLock({ $0 }) else { fatalError("the stage is gone") }
    return hub
  }

  init(_ change: (inout DelegateHub.Configuration) -> Void = { _ in }) {
    var configuration = DelegateHub.Configuration()
    configuration.executor = executor
    configuration.clock = clock
    change(&configuration)
    held = Lock(DelegateHub(configuration))
  }

  deinit {
    // What the hub leaves to the executor when it goes would be kept by the executor, and keep it.
    _ = held.withLock { $0.take() }
    executor.run()
  }

  /// Subscribes that many probes, named by their numbers, which the hub keeps.
  @discardableResult
  func cast(_ count: Int) -> [Probe] { hub.cast(count) }

  /// Starts a call and lets it go as far as it can.
  func start<Result: Sendable>(
    _ body: @escaping @Sendable (DelegateHub) async -> Result
  ) -> Act<Result> {
    let results = Recorder<Result>()
    let running = executor.start { [hub] in results.record(await body(hub)) }
    return Act(results: results, running: running)
  }

  /// Makes a call that has nothing to wait for; `nil` if it waits all the same.
  func perform<Result: Sendable>(
    _ body: @escaping @Sendable (DelegateHub) async -> Result
  ) -> Result? {
    start(body).result
  }

  /// How many deadlines are set and have not come.
  var alarms: Int { hub.core.deadlines.alarms.withLock { $0.actions.count } }

  /// Lets everything go as far as it can.
  func run() { executor.run() }

  /// Lets time pass.
  func advance(by duration: Duration) {
    clock.advance(by: duration)
    run()
  }

  /// Opens a gate and lets everything go as far as it can.
  func open(_ gate: Gate) {
    gate.open()
    run()
  }

  /// A call that was started.
  struct Act<Result: Sendable>: Sendable {
    fileprivate let results: Recorder<Result>
    fileprivate let running: ManualExecutor.Call<Void, Never>

    /// What it has returned; `nil` as long as it has not.
    var result: Result? { results.history.first }

    /// Cancels the caller's task.
    func cancel() { running.cancel() }
  }
}
