package import Histogram

/// What came of a load.
package struct LoadResult: Sendable {
  package internal(set) var sent = 0
  package internal(set) var accepted = 0
  package internal(set) var refusedRightly = 0
  package internal(set) var refused: [String: Int] = [:]
  /// Messages heard, by all hearers together.
  package internal(set) var heard = 0
  /// How long people spoke.
  package internal(set) var duration = Duration.zero
  /// From when a message was due to when a hearer had it, in nanoseconds.
  package internal(set) var latencies = Histogram<UInt32>(
    highestTrackableValue: 120_000_000_000, numberOfSignificantValueDigits: .three)
  /// The part of it from when the first hearer had the message.
  package internal(set) var lags = Histogram<UInt32>(
    highestTrackableValue: 120_000_000_000, numberOfSignificantValueDigits: .three)
  /// How many messages each client said that said any.
  package internal(set) var shares: [Int] = []
  /// What was heard wrongly, twice, in another order or not at all.
  package internal(set) var faults: [String] = []
  /// Those who misbehaved, in words.
  package internal(set) var misbehaviour: String?

  /// Messages heard in a second.
  package var throughput: Double { Double(heard) / (duration / .seconds(1)) }

  /// A latency, in milliseconds.
  package func latency(_ percentile: Double) -> Double {
    Double(latencies.valueAtPercentile(percentile)) / 1_000_000
  }

  /// How far behind the first a hearer was, in milliseconds.
  package func lag(_ percentile: Double) -> Double {
    Double(lags.valueAtPercentile(percentile)) / 1_000_000
  }

  mutating func add(_ loop: LoadLoop) {
    let tally = loop.tally
    shares += loop.clients.map { Int($0.said) }.filter { $0 > 0 }
    sent += tally.sent
    accepted += tally.accepted
    refusedRightly += tally.refusedRightly
    refused.merge(tally.refused, uniquingKeysWith: +)
    heard += tally.heard
    latencies.add(tally.latencies)
    lags.add(tally.lags)
  }
}
