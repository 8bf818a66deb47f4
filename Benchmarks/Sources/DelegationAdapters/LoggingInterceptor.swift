public import Delegation
public import Logging

/// Gives handlers a logger that knows whose they are, and logs those that fail or are slow, by swift-log.
///
/// A handler, and what it calls, find it as `Logger.current`, with `delegation.protocol`, `delegation.call` and
/// `delegation.subscriber` in its metadata. It is the logger that the caller of a question has bound; for
/// notifications, or if the caller has none, the one that is given here.
///
/// A handler that throws is logged as an error, unless it was cancelled before. One that has run for longer than `slowAfter` is logged as a warning
/// when it ends. One that never ends is an incident only: see `DelegateHub.Configuration.slowAfter`.
///
/// ```swift
/// let hub = DelegateHub(
///   .init(interceptors: [LoggingInterceptor(logger, slowAfter: .milliseconds(100))]))
/// ```
public struct LoggingInterceptor: DelegateHub.Interceptor {
  private let logger: Logger
  private let limit: Duration?
  private let now: @Sendable () -> Duration

  /// Makes an interceptor.
  ///
  /// - Parameters:
  ///   - logger: the logger of handlers whose caller has bound none.
  ///   - limit: how long a handler may run before it is logged; `nil` for any time.
  ///   - clock: measures the handlers.
  public init(
    _ logger: Logger, slowAfter limit: Duration? = nil,
    clock: some Clock<Duration> = ContinuousClock()
  ) {
    self.logger = logger
    self.limit = limit
    let start = clock.now
    now = { start.duration(to: clock.now) }
  }

  /// Runs a handler with a logger of its own, and logs it if it fails or is slow.
  ///
  /// - Parameters:
  ///   - call: which handler it is.
  ///   - next: runs the handler.
  /// - Returns: what became of the handler.
  public nonisolated(nonsending) func intercept(
    _ call: DelegateHub.HandlerCall,
    next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
  ) async -> DelegateHub.HandlerOutcome {
    // The one that swift-log has if nobody has bound any has no label.
    var logger = Logger.current.label.isEmpty ? logger : Logger.current
    logger[metadataKey: "delegation.protocol"] = "\(call.protocol)"
    logger[metadataKey: "delegation.call"] = "\(call.call)"
    logger[metadataKey: "delegation.subscriber"] = "\(call.subscriber)"
    let start = now()
    let outcome = await withLogger(logger) { _ in await next() }
    let duration = now() - start
    let metadata: Logger.Metadata = ["delegation.duration": "\(duration)"]
    if let error = outcome.error {
      // After its cancellation nobody wants the answer any more: that is no fault.
      if Task.isCancelled { return outcome }
      logger.error("handler failed", error: error, metadata: metadata)
    } else if let limit, duration > limit {
      logger.warning("handler was slow", metadata: metadata)
    }
    return outcome
  }
}
