import DelegationAdapters
import Logging
import ServiceLifecycle

/// Waits at shutdown for an engine that has no hubs.
struct EngineDrainService: Service {
  let duration: Duration
  let logger: Logger
  let settle: @Sendable () async -> Void
  /// Returns when everybody has been told everything.
  let drain: @Sendable () async -> Void

  func run() async throws {
    try await gracefulShutdown()
    let isDrained = await withDeadline(duration, else: false) { answer in
      await settle()
      await drain()
      answer(true)
    }
    if !isDrained { logger.warning("not drained: nobody knows who") }
  }
}
