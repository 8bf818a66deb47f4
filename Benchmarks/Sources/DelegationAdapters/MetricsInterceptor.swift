public import CoreMetrics
public import Delegation

/// Measures how long handlers run and notifications wait, by swift-metrics.
///
/// For each protocol and call there is a timer `NAME_handler_duration` with the dimensions `protocol`, `call` and
/// `outcome` (`returned`, `failed`, `not_called`; `abandoned` if it threw after its cancellation), and for
/// notifications a timer `NAME_notification_wait`, the time from the post to the handler, with `protocol` and `call`.
/// What interceptors after this one take counts as the handler's.
///
/// ```swift
/// let hub = DelegateHub(.init(interceptors: [MetricsInterceptor(named: "shop")]))
/// ```
public struct MetricsInterceptor: DelegateHub.Interceptor {
  private let name: String
  private let factory: any MetricsFactory
  private let now: @Sendable () -> Duration

  /// Makes an interceptor.
  ///
  /// - Parameters:
  ///   - name: what the timers' labels begin with.
  ///   - factory: where they go.
  ///   - clock: measures the handlers.
  public init(
    named name: String, factory: any MetricsFactory = MetricsSystem.factory,
    clock: some Clock<Duration> = ContinuousClock()
  ) {
    self.name = name
    self.factory = factory
    let start = clock.now
    now = { start.duration(to: clock.now) }
  }

  /// Runs a handler, and records how long it and its notification have taken.
  public nonisolated(nonsending) func intercept(
    _ call: DelegateHub.HandlerCall,
    next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
  ) async -> DelegateHub.HandlerOutcome {
    let dimensions = [("protocol", call.protocol), ("call", "\(call.call)")]
    if let waited = call.waited { record(waited, as: "notification_wait", dimensions) }
    let start = now()
    let outcome = await next()
    let name =
      if outcome.error != nil {
        Task.isCancelled ? "abandoned" : "failed"
      } else {
        outcome.isCalled ? "returned" : "not_called"
      }
    record(now() - start, as: "handler_duration", dimensions + [("outcome", name)])
    return outcome
  }

  private func record(
    _ duration: Duration, as label: String, _ dimensions: [(String, String)]
  ) {
    Timer(label: "\(name)_\(label)", dimensions: dimensions, factory: factory)
      .recordNanoseconds(Int64(duration / .nanoseconds(1)))
  }
}
