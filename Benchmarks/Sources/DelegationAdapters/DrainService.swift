public import Delegation
public import Logging
public import ServiceLifecycle

/// Brings hubs to rest when a `ServiceGroup` shuts down gracefully.
///
/// A group shuts its services down one after another, the last one first. List this one between those
/// that serve the subscribers (connections, files, databases), which have to outlive it, and those that
/// take in work, which have to have stopped before it:
///
/// ```swift
/// let group = ServiceGroup(
///   services: [connections, DrainService(hub, within: .seconds(5), logger: logger), listener],
///   gracefulShutdownSignals: [.sigterm], logger: logger)
/// ```
public struct DrainService: Service {
  private let duration: Duration
  private let logger: Logger
  private let settle: @Sendable () async -> Void
  private let hubs: @Sendable () async -> [DelegateHub]

  /// Makes a service that drains one hub.
  ///
  /// - Parameters:
  ///   - hub: the hub.
  ///   - duration: how long to wait at most.
  ///   - logger: is told who was left.
  public init(_ hub: DelegateHub, within duration: Duration, logger: Logger) {
    self.init(within: duration, logger: logger, hubs: { [hub] })
  }

  /// Makes a service that drains hubs that come and go.
  ///
  /// - Parameters:
  ///   - duration: how long to wait at most, for all of them together.
  ///   - logger: is told who was left.
  ///   - settle: waits for whoever is between two calls of the hubs, of which the hubs do not know: who
  ///     has had the answer to a vote, for instance, and is about to notify.
  ///   - hubs: the hubs that there are then.
  public init(
    within duration: Duration, logger: Logger,
    after settle: @escaping @Sendable () async -> Void = {},
    hubs: @escaping @Sendable () async -> [DelegateHub]
  ) {
    self.duration = duration
    self.logger = logger
    self.settle = settle
    self.hubs = hubs
  }

  /// Waits for the shutdown, then for the hubs.
  ///
  /// - Throws: `CancellationError` if the group is cancelled instead; then nothing is drained.
  public func run() async throws {
    try await gracefulShutdown()
    await settle()
    await withTaskGroup { group in
      for hub in await hubs() {
        group.addTask { await hub.drain(within: duration) }
      }
      for await leftovers in group where !leftovers.isEmpty {
        for subscriber in leftovers.subscribers {
          logger.warning(
            "not drained",
            metadata: [
              "subscriber": "\(subscriber.subscriber)", "site": "\(subscriber.site)",
              "running": "\(subscriber.running)", "waiting": "\(subscriber.waiting)",
            ])
        }
      }
    }
  }
}
