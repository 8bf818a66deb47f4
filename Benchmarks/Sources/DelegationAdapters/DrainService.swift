public import Delegation
public import Logging
public import ServiceLifecycle

/// Brings hubs to rest when a `ServiceGroup` shuts down gracefully.
///
/// A group stops its services one after another, the last one first. List this one between those that serve the
/// subscribers (connections, files, databases), which have to outlive it, and those that take in work, which have to
/// have stopped before it:
///
/// ```swift
/// let services: [any Service] = [
///   database, DrainService(within: .seconds(5), logger: logger) { [hub] }, listener,
/// ]
/// let group = ServiceGroup(
///   configuration: .init(
///     services: services.map {
///       .init(
///         service: $0, successTerminationBehavior: .gracefullyShutdownGroup,
///         failureTerminationBehavior: .gracefullyShutdownGroup)
///     }, gracefulShutdownSignals: [.sigterm], logger: logger))
/// ```
///
/// By default a group cancels all services at once if one of them throws or returns; hence the two behaviours.
public struct DrainService: Service {
  private let duration: Duration
  private let logger: Logger
  private let onLeft: @Sendable (DelegateHub.Leftovers) -> Void
  private let hubs: @Sendable () async -> [DelegateHub]

  /// Makes a service that drains one hub, or hubs that come and go.
  ///
  /// - Parameters:
  ///   - duration: how long to wait at most, for all of them together.
  ///   - logger: is told who was left.
  ///   - onLeft: is told what each hub has left, if it has.
  ///   - hubs: the hubs that there are then. This closure's own time is not limited.
  public init(
    within duration: Duration, logger: Logger,
    onLeft: @escaping @Sendable (DelegateHub.Leftovers) -> Void = { _ in },
    hubs: @escaping @Sendable () async -> [DelegateHub]
  ) {
    self.duration = duration
    self.logger = logger
    self.onLeft = onLeft
    self.hubs = hubs
  }

  /// Waits for the shutdown, then for the hubs.
  ///
  /// When it returns the hubs are at rest, or the time is up and the logger knows who was left.
  ///
  /// **Cancellation.** If the group is cancelled in place of a shutdown, it drains all the same. If the group is
  /// cancelled while it drains, as when its time is up, it waits no longer, and the logger knows who was left.
  public func run() async throws {
    do {
      try await gracefulShutdown()
    } catch {
      // In a task of its own, for a drain in one that is cancelled does not wait.
      return await Task { await drain() }.value
    }
    await drain()
  }

  private func drain() async {
    await withTaskGroup { group in
      for hub in await hubs() {
        group.addTask { [duration] in await hub.drain(within: duration) }
      }
      for await left in group where !left.isEmpty {
        onLeft(left)
        for subscriber in left.subscribers {
          logger.warning(
            "not drained",
            metadata: [
              "subscriber": "\(subscriber.subscriber)", "site": "\(subscriber.site)",
              "running": "\(subscriber.running)", "waiting": "\(subscriber.waiting)",
            ])
        }
        if left.delays > 0 {
          logger.warning("not drained", metadata: ["delays": "\(left.delays)"])
        }
      }
    }
  }
}
