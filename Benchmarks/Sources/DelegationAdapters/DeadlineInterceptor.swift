public import Delegation

/// Gives the handlers of notifications a deadline: a subscriber whose handler has not returned by then is given up.
///
/// A handler that hangs holds up what waits for its subscriber, for as long as it hangs: no other handler of that
/// subscriber may run beside it. Nor can anybody end it. So at the deadline this ends its subscription. What
/// waits for it is counted as cancelled, no later call reaches it, and a caller of `notifyAndWait` goes on. The handler
/// itself runs until it returns, and `drain` waits for that.
///
/// Questions have a deadline of their own, `within:`, so this does not watch them.
///
/// ```swift
/// let hub = DelegateHub(
///   .init(
///     interceptors: [
///       DeadlineInterceptor(after: .seconds(30)) { call in
///         logger.error("given up", metadata: ["subscriber": "\(call.subscriber)"])
///       }
///     ]))
/// ```
public struct DeadlineInterceptor: DelegateHub.Interceptor {
  private let sleep: @Sendable () async throws -> Void
  private let onGivingUp: @Sendable (DelegateHub.HandlerCall) -> Void

  /// Makes an interceptor.
  ///
  /// - Parameters:
  ///   - duration: how long a handler may run.
  ///   - clock: measures the handlers.
  ///   - onGivingUp: is told once a subscription has been ended, while its handler still runs.
  public init(
    after duration: Duration, clock: any Clock<Duration> = ContinuousClock(),
    onGivingUp: @escaping @Sendable (DelegateHub.HandlerCall) -> Void = { _ in }
  ) {
    sleep = { try await clock.sleep(for: duration) }
    self.onGivingUp = onGivingUp
  }

  /// Runs a handler, and ends its subscription if it takes too long.
  ///
  /// - Parameters:
  ///   - call: which handler it is.
  ///   - next: runs the handler.
  /// - Returns: what became of the handler.
  public nonisolated(nonsending) func intercept(
    _ call: DelegateHub.HandlerCall,
    next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
  ) async -> DelegateHub.HandlerOutcome {
    guard call.waited != nil else { return await next() }
    // Nobody awaits it: a handler that returns in time does not wait for it.
    let alarm = Task { [sleep, onGivingUp] in
      guard (try? await sleep()) != nil, !Task.isCancelled else { return }
      call.subscription.cancel()
      onGivingUp(call)
    }
    defer { alarm.cancel() }
    return await next()
  }
}
