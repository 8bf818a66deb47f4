public import ServiceLifecycle

/// Reports a hub's metrics at intervals, as a part of a `ServiceGroup`.
///
/// List it before the ``DrainService``: a group stops its services in reverse order, and the last report is to count
/// what was drained.
///
/// ```swift
/// HubMetricsService(HubMetrics(hub, named: "worker"), every: .seconds(10))
/// ```
public struct HubMetricsService: Service {
  private let metrics: HubMetrics
  private let interval: Duration

  /// Makes a service.
  ///
  /// - Parameters:
  ///   - metrics: what to report.
  ///   - interval: how long to wait between two reports.
  public init(_ metrics: HubMetrics, every interval: Duration) {
    self.metrics = metrics
    self.interval = interval
  }

  /// Reports until the group shuts down, and once more then.
  public func run() async {
    await cancelWhenGracefulShutdown {
      while (try? await Task.sleep(for: interval)) != nil { await metrics.report() }
    }
    await metrics.report()
  }
}
