public import Delegation
public import Logging

/// Gives the handlers of notifications a deadline: a subscriber whose handler has not returned by then is given up.
///
/// A handler that hangs holds up what waits for its subscriber, for as long as it hangs: no other handler of that
/// subscriber may run beside it. Nor can anybody end it. So at the deadline this ends its subscription, and logs that
/// in one line. What waits for the subscriber is counted as cancelled, no later call reaches it, and a caller of
/// `notifyAndWait(leaving:)` goes on. The handler runs until it returns; `drain`, and `notifyAndWait` without
/// `leaving:` or `within:`, wait for that.
///
/// Questions have a deadline of their own, `within:`, so this does not watch them.
///
/// ```swift
/// let hub = DelegateHub(
///   .init(
///     onIncident: { logger.report($0) },
///     interceptors: [DeadlineInterceptor(after: .seconds(30), logger: logger)]))
/// ```
public struct DeadlineInterceptor: DelegateHub.Interceptor {
  private let sleep: @Sendable () async throws -> Void
  private let logger: Logger
  private let onGivingUp: @Sendable (DelegateHub.HandlerCall) -> Void

  /// Makes an interceptor.
  ///
  /// - Parameters:
  ///   - duration: how long a handler may run.
  ///   - clock: measures the handlers.
  ///   - logger: is told who is given up.
  ///   - onGivingUp: is told once a subscription has been ended, while its handler still runs.
  public init(
    after duration: Duration, clock: any Clock<Duration> = ContinuousClock(), logger: Logger,
    onGivingUp: @escaping @Sendable (DelegateHub.HandlerCall) -> Void = { _ in }
  ) {
    sleep = { try await clock.sleep(for: duration) }
    self.logger = logger
    self.onGivingUp = onGivingUp
  }

  /// Runs a handler, and ends its subscription if it takes too long.
  public nonisolated(nonsending) func intercept(
    _ call: DelegateHub.HandlerCall,
    next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
  ) async -> DelegateHub.HandlerOutcome {
    guard call.waited != nil else { return await next() }
    // Nobody awaits it: a handler that returns in time does not wait for it.
    let alarm = Task { [sleep, logger, onGivingUp] in
      guard (try? await sleep()) != nil, !Task.isCancelled else { return }
      call.subscription.cancel()
      logger.report(givenUp: call)
      onGivingUp(call)
    }
    defer { alarm.cancel() }
    return await next()
  }
}
