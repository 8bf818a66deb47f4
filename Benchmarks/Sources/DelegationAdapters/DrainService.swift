public import Delegation
public import Logging
public import ServiceLifecycle

/// Brings hubs to rest when a `ServiceGroup` shuts down gracefully.
///
/// A group shuts its services down one after another, the last one first. List this one between those
/// that serve the subscribers (connections, files, databases), which have to outlive it, and those that
/// take in work, which have to have stopped before it:
///
/// A group cancels all services at once if one of them throws or returns, unless it is told otherwise. So say that it
/// shuts down then, and nothing is lost either:
///
/// ```swift
/// let services: [any Service] = [
///   connections, DrainService(hub, within: .seconds(5), logger: logger), listener,
/// ]
/// let group = ServiceGroup(
///   configuration: .init(
///     services: services.map {
///       .init(
///         service: $0, successTerminationBehavior: .gracefullyShutdownGroup,
///         failureTerminationBehavior: .gracefullyShutdownGroup)
///     }, gracefulShutdownSignals: [.sigterm], logger: logger))
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
  ///   - duration: how long to wait at most, for all of them together and for `settle`, which comes first.
  ///   - logger: is told who was left, and if `settle` was not done in time.
  ///   - settle: waits for those that are between two calls of the hubs, of which the hubs do not know:
  ///     one that has had the answer to a vote, for instance, and is about to notify. If it is not done
  ///     in time it is cancelled and left behind.
  ///   - hubs: the hubs that there are then. This closure's own time is not limited.
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
  /// When it returns the hubs are at rest, or the time is up and the logger knows what was left.
  ///
  /// **Cancellation.** If the group is cancelled in place of a shutdown, it drains all the same: what was posted by then
  /// is handled, as far as the subscribers still can. If the group is cancelled while it shuts down, as when its time
  /// is up, it waits no longer, and the logger knows what was left.
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
    let end = ContinuousClock.now + duration
    let isSettled = await withDeadline(duration, else: false) { [settle] answer in
      await settle()
      answer(true)
    }
    if !isSettled { logger.warning("not settled: something may be told after the drain") }
    // If nothing is left of it, a drain that does not wait still says who has not been told everything.
    let rest = max(.zero, ContinuousClock.now.duration(to: end))
    await withTaskGroup { group in
      for hub in await hubs() {
        group.addTask { await hub.drain(within: rest) }
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
