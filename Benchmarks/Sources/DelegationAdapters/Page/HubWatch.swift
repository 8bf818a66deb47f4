public import Delegation
import Synchronization

/// Keeps what a page shows and statistics do not have: the last incidents, and the times of handlers.
///
/// Hubs are told of it when they are made; several may share one:
///
/// ```swift
/// let watch = HubWatch()
/// let hub = DelegateHub(.init(
///   onIncident: { incident in
///     watch.note(incident)
///     logger.warning("\(incident)")
///   }, interceptors: [watch]))
/// let page = HubPageService(watch: watch, logger: logger) { [("orders", hub)] }
/// ```
///
/// As the last interceptor it measures handlers without the other interceptors. While nobody looks it does
/// nothing; a handler that began then is shown with the time for which it has been seen. But a hub that would
/// otherwise have no interceptors pays for having one, at each handler: leave it out where handlers are many and
/// short. Then all of them are shown so, and there are no histograms.
public final class HubWatch: Sendable {
  /// What there is at a moment.
  struct Report {
    /// Those that began while somebody looked.
    var running: [DelegateHub.Subscription: HandlerTimes.Running] = [:]
    /// By the protocol's name.
    var histograms: [String: HandlerTimes.Histograms] = [:]
    /// Of the subscriptions that have been called lately.
    var most: [DelegateHub.Subscription: HandlerTimes.Most] = [:]
    var incidents: [IncidentBook.Line] = []
    /// How many incidents there have been.
    var incidentCount = 0
  }

  /// A part of the times: handlers that begin on different processors seldom meet.
  private final class Part: Sendable {
    let times = Mutex(HandlerTimes())
  }

  private let incidents = Mutex(IncidentBook())
  /// Invariant: their number is a power of two.
  private let parts = (0..<8).map { _ in Part() }
  /// How many pages have viewers at the moment.
  private let pages = Atomic(0)

  /// Makes a watch that has seen nothing.
  public init() {}

  /// Keeps an incident; those of one subscriber, call and kind of error are shown as one, with their number.
  ///
  /// **Isolation.** Works from any thread. It is meant for ``DelegateHub/Configuration/onIncident``.
  ///
  /// - Parameter incident: the incident.
  /// - Complexity: O(1).
  public func note(_ incident: DelegateHub.Incident) {
    // The texts are the hub's own; those of the user are made when somebody looks.
    let texts = (incident.protocol, incident.site)
    let former = incidents.withLock { $0.add(incident, texts, at: .now) }
    withExtendedLifetime(former) {}
  }

  /// Whether somebody looks, so that it measures.
  var isLooking: Bool { pages.load(ordering: .relaxed) > 0 }

  /// Measures as long as the body takes.
  nonisolated(nonsending) func looking(_ body: nonisolated(nonsending) () async -> Void) async {
    pages.add(1, ordering: .relaxed)
    await body()
    pages.subtract(1, ordering: .relaxed)
  }

  /// What there is now.
  ///
  /// - Parameters:
  ///   - count: of the incidents, those lines are wanted that have changed since there were so many.
  ///   - now: the time.
  /// - Returns: what there is.
  func report(since count: Int, at now: ContinuousClock.Instant = .now) -> Report {
    var report = Report()
    for part in parts {
      let released = part.times.withLock {
        $0.report(into: &report.running, &report.histograms, &report.most, at: now)
      }
      withExtendedLifetime(released) {}
    }
    (report.incidents, report.incidentCount) = incidents.withLock { ($0.since(count), $0.total) }
    return report
  }
}

extension HubWatch: DelegateHub.Interceptor {
  /// Measures a handler.
  ///
  /// - Parameters:
  ///   - call: which handler it is.
  ///   - next: runs it.
  /// - Returns: what became of it.
  public nonisolated(nonsending) func intercept(
    _ call: DelegateHub.HandlerCall,
    next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
  ) async -> DelegateHub.HandlerOutcome {
    // Nothing else: so `next` needs no frame of this function's.
    if isLooking { return await measure(call, next) }
    return await next()
  }

  private nonisolated(nonsending) func measure(
    _ call: DelegateHub.HandlerCall,
    _ next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
  ) async -> DelegateHub.HandlerOutcome {
    let part = parts[call.subscription.hashValue & (parts.count - 1)]
    let place = part.times.withLock { $0.begin(call.subscription, at: .now) }
    let outcome = await next()
    let end = ContinuousClock.now
    part.times.withLock { $0.end(place, of: call.protocol, waited: call.waited, at: end) }
    return outcome
  }
}
