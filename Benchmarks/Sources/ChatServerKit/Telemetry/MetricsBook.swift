package import CoreMetrics
import Synchronization

/// Keeps metrics in memory, for an administrator to look at.
///
/// A server in earnest hands them to Prometheus, StatsD or OpenTelemetry by a factory of theirs.
package final class MetricsBook: MetricsFactory {
  private let entries = Mutex<[String: MetricsEntry]>([:])

  package init() {}

  /// A line for each metric, by name.
  var lines: [String] {
    entries.withLock { $0 }.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
  }

  package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    entry(label, dimensions)
  }

  package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    entry(label, dimensions)
  }

  package func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    entry(label, dimensions)
  }

  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    entry(label, dimensions)
  }

  // What a metric has counted outlives whoever reports it.
  package func destroyCounter(_ handler: any CounterHandler) {}
  package func destroyMeter(_ handler: any MeterHandler) {}
  package func destroyRecorder(_ handler: any RecorderHandler) {}
  package func destroyTimer(_ handler: any TimerHandler) {}

  private func entry(_ label: String, _ dimensions: [(String, String)]) -> MetricsEntry {
    let list = dimensions.map { "\($0.0)=\"\($0.1)\"" }.joined(separator: ",")
    let name = list.isEmpty ? label : "\(label){\(list)}"
    return entries.withLock { entries in
      if let entry = entries[name] { return entry }
      let entry = MetricsEntry()
      entries[name] = entry
      return entry
    }
  }
}
