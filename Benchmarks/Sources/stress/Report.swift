import Delegation
import Foundation
import Histogram

/// What came of a run.
struct Report: Sendable {
  /// What does not add up or must not have happened.
  let problems: [String]
  /// All of it, in words.
  let text: String

  /// Puts a run into words.
  ///
  /// - Parameters:
  ///   - run: what was asked for.
  ///   - duration: how long producers went on.
  ///   - world: what was counted.
  ///   - statistics: the hub's own, at the end.
  init(run: Run, duration: Duration, world: World, statistics: DelegateHub.Statistics) {
    let (tally, counts) = (world.tally, statistics.counts)
    let seconds = duration / .seconds(1)
    func rate(_ count: Int) -> String { "\(Int(Double(count) / seconds).grouped) a second" }
    problems = world.violations.list
    let votes = tally[.voted] + tally[.votedLate] + tally[.failedVotes]
    let rows = [
      (
        "run",
        "seed \(run.seed), \(run.producers) producers, \(String(format: "%.1f", seconds)) s"
      ),
      (
        "posted",
        "\(tally.posted.grouped), \(tally[.postedByHandlers].grouped) of them by handlers: "
          + rate(tally.posted)
      ),
      ("handlers", "\((counts.handled + counts.failed).grouped) ended: " + rate(counts.handled)),
      (
        "asked",
        "\(votes.grouped) votes, \(tally[.failedVotes].grouped) of them failing, and "
          + "\(tally[.asked].grouped) other questions; \(tally[.delivered].grouped) delivered"
      ),
      (
        "visitors",
        "\(tally[.came].grouped) came, \(tally[.left].grouped) left, \(tally[.died].grouped) died, "
          + "\(tally[.replaced].grouped) were replaced, \(tally[.changed].grouped) options changed"
      ),
      ("latency", Self.percentiles(world.latencies.merged())),
      ("of prompt", Self.percentiles(world.promptLatencies.merged())),
      ("memory", "\(Memory.peak / 1_000_000) MB at most"),
      (
        "account",
        "\(counts.handled.grouped) handled + \(counts.failed.grouped) failed + "
          + "\(counts.expired.grouped) expired + \(counts.dropped.grouped) dropped + "
          + "\(counts.cancelled.grouped) cancelled + \((counts.waiting + counts.handling).grouped) waiting = "
          + "\(counts.addressed.grouped), \(statistics.addressed.grouped) addressed"
      ),
      ("result", problems.isEmpty ? "all accounts add up" : "WRONG"),
    ]
    let lines = rows.map { $0.0.padding(toLength: 11, withPad: " ", startingAt: 0) + $0.1 }
    text = (lines + problems.map { "  " + $0 }).joined(separator: "\n")
  }

  /// From posting to the beginning of a handler.
  private static func percentiles(_ histogram: Histogram<UInt64>) -> String {
    let points: [(String, Double)] = [
      ("p50", 50), ("p90", 90), ("p99", 99), ("p99.9", 99.9), ("max", 100),
    ]
    return points.map { name, percentile in
      let microseconds = Double(histogram.valueAtPercentile(percentile)) / 1000
      return "\(name) \(String(format: "%.0f", microseconds)) µs"
    }.joined(separator: ", ") + " of \(Int(histogram.totalCount).grouped)"
  }
}
