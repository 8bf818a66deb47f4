public import Delegation
import Synchronization

/// Keeps what a page shows and statistics do not have: the last incidents, and the times of handlers.
///
/// Hubs are told of it when they are made; several may share one:
///
/// ```swift
/// let watch = HubWatch()
/// let hub = DelegateHub(.init(onIncident: { incident in
///   watch.note(incident)
///   logger.warning("\(incident)")
/// }))
/// let page = HubPageService(watch: watch, logger: logger) { [("orders", hub)] }
/// ```
public final class HubWatch: Sendable {
  /// What there is at a moment.
  struct Report {
    /// When the longest of a subscription's running handlers began, of those that have been noted.
    var oldest: [DelegateHub.Subscription: ContinuousClock.Instant] = [:]
    /// By the protocol's name.
    var histograms: [String: HandlerTimes.Histograms] = [:]
    var incidents: [IncidentRing.Entry] = []
    /// How many incidents there have been.
    var incidentCount = 0
  }

  private let incidents = Mutex(IncidentRing(capacity: 50))

  /// Makes a watch that has seen nothing.
  public init() {}

  /// Keeps an incident, of which the last 50 are shown.
  ///
  /// **Isolation.** Works from any thread. It is meant for ``DelegateHub/Configuration/onIncident``.
  ///
  /// - Parameter incident: the incident.
  /// - Complexity: O(1).
  public func note(_ incident: DelegateHub.Incident) {
    let former = incidents.withLock { $0.add(incident, at: .now) }
    withExtendedLifetime(former) {}
  }

  /// What there is now.
  ///
  /// - Parameter number: the number of the first incident that is wanted.
  /// - Returns: what there is.
  func report(since number: Int) -> Report {
    var report = Report()
    (report.incidents, report.incidentCount) = incidents.withLock { ($0.since(number), $0.total) }
    return report
  }
}
