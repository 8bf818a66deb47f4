public import CoreMetrics
import Synchronization

/// Keeps metrics in memory, to be looked at as the text that Prometheus reads.
///
/// A server in earnest hands them to Prometheus, StatsD or OpenTelemetry by a factory of theirs; until then this one shows
/// what they would get. It forgets no metric, so their dimensions must not be without number.
///
/// ```swift
/// let metrics = MetricsBook()
/// MetricsSystem.bootstrap(metrics)
/// var page = HubPageService.Configuration()
/// page.texts["/metrics"] = { metrics.text }
/// ```
public final class MetricsBook: MetricsFactory {
  private struct Key: Hashable {
    let name: String
    /// What stands between the braces.
    let labels: String
  }

  private let entries = Mutex<[Key: MetricsEntry]>([:])

  /// Makes a book without metrics.
  public init() {}

  /// A line for each value, by the metrics' names; a timer has a count, a sum in seconds and the longest.
  public var lines: [String] {
    entries.withLock { $0 }
      .flatMap { key, entry in
        entry.values.map { (name: key.name + $0.suffix, labels: key.labels, value: $0.text) }
      }
      .sorted { ($0.name, $0.labels) < ($1.name, $1.labels) }
      .map { name, labels, value in
        "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(value)"
      }
  }

  /// The lines as one text, as Prometheus reads it.
  public var text: String { lines.map { $0 + "\n" }.joined() }

  /// Makes a counter, or returns the one that there is.
  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    entry(label, dimensions)
  }

  /// Makes a meter, or returns the one that there is.
  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    entry(label, dimensions)
  }

  /// Makes a recorder, or returns the one that there is.
  public func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    entry(label, dimensions)
  }

  /// Makes a timer, or returns the one that there is.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    entry(label, dimensions)
  }

  /// Does nothing: what a metric has counted outlives the one who reports it.
  public func destroyCounter(_ handler: any CounterHandler) {}
  /// Does nothing, as with a counter.
  public func destroyMeter(_ handler: any MeterHandler) {}
  /// Does nothing, as with a counter.
  public func destroyRecorder(_ handler: any RecorderHandler) {}
  /// Does nothing, as with a counter.
  public func destroyTimer(_ handler: any TimerHandler) {}

  private func entry(_ label: String, _ dimensions: [(String, String)]) -> MetricsEntry {
    let labels = dimensions.map { "\(Self.name($0.0))=\"\(Self.escaped($0.1))\"" }
    let key = Key(name: Self.name(label), labels: labels.joined(separator: ","))
    return entries.withLock { entries in
      if let entry = entries[key] { return entry }
      let entry = MetricsEntry()
      entries[key] = entry
      return entry
    }
  }

  /// With signs in it that Prometheus allows.
  private static func name(_ text: String) -> String {
    let name = String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    return name.first?.isNumber ?? true ? "_" + name : name
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}
