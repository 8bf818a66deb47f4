public import Delegation
public import Logging

/// Gives handlers a logger that knows whose they are, by swift-log.
///
/// A handler, and what it calls, find it as `Logger.current`, with `delegation.protocol`, `delegation.call` and
/// `delegation.subscriber` in its metadata. It is the logger that the caller of a question has bound; for
/// notifications, or if the caller has none, the one that is given here.
///
/// It logs nothing itself: what goes wrong is an incident, which ``Logging/Logger/report(_:)`` logs. So one failure is
/// one line.
///
/// ```swift
/// let hub = DelegateHub(
///   .init(onIncident: { logger.report($0) }, interceptors: [LoggingInterceptor(logger)]))
/// ```
public struct LoggingInterceptor: DelegateHub.Interceptor {
  private let logger: Logger

  /// Makes an interceptor.
  ///
  /// - Parameter logger: the logger of handlers whose caller has bound none.
  public init(_ logger: Logger) {
    self.logger = logger
  }

  /// Runs a handler with a logger of its own.
  public nonisolated(nonsending) func intercept(
    _ call: DelegateHub.HandlerCall,
    next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
  ) async -> DelegateHub.HandlerOutcome {
    // The one that swift-log has if nobody has bound any has no label.
    var logger = Logger.current.label.isEmpty ? logger : Logger.current
    logger[metadataKey: "delegation.protocol"] = "\(call.protocol)"
    logger[metadataKey: "delegation.call"] = "\(call.call)"
    logger[metadataKey: "delegation.subscriber"] = "\(call.subscriber)"
    return await withLogger(logger) { _ in await next() }
  }
}

extension Logger {
  /// Logs an incident of a hub in one line: an error that no caller receives as an error, all else as a warning.
  ///
  /// For `onIncident`. An error that a question rethrows is no incident: its caller has it.
  ///
  /// - Parameter incident: the incident.
  public func report(_ incident: DelegateHub.Incident) {
    var metadata: Metadata = [
      "delegation.kind": "\(incident.kind)", "delegation.call": "\(incident.call)",
      "delegation.protocol": "\(incident.protocol)",
      "delegation.subscriber": "\(incident.subscriber)", "delegation.site": "\(incident.site)",
    ]
    if let duration = incident.duration { metadata["delegation.duration"] = "\(duration)" }
    log(level: incident.kind == .failed ? .error : .warning, "\(incident)", metadata: metadata)
  }

  /// Logs in one line that a subscription was ended because its handler hangs.
  func report(givenUp call: DelegateHub.HandlerCall) {
    let row = call.subscription.statistics
    error(
      "\(call.subscriber), subscribed to \(call.protocol) at \(row.site), hung in \(call.call) and was given up",
      metadata: [
        "delegation.kind": "givenUp", "delegation.call": "\(call.call)",
        "delegation.protocol": "\(call.protocol)", "delegation.subscriber": "\(call.subscriber)",
        "delegation.site": "\(row.site)",
      ])
  }
}
