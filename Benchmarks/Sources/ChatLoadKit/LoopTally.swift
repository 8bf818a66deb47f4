import Histogram

/// What the clients of one event loop count.
final class LoopTally {
  var sent = 0
  var accepted = 0
  /// Refused because they were made to be.
  var refusedRightly = 0
  /// Refused for other reasons.
  var refused: [String: Int] = [:]
  private(set) var heard = 0
  private(set) var latencies = Histogram<UInt32>(
    highestTrackableValue: 120_000_000_000, numberOfSignificantValueDigits: .three)
  private(set) var lags = Histogram<UInt32>(
    highestTrackableValue: 120_000_000_000, numberOfSignificantValueDigits: .three)
  private let unwelcomeEvery: Int

  init(unwelcomeEvery: Int) {
    self.unwelcomeEvery = unwelcomeEvery
  }

  /// Whether what is said now is to be refused.
  func isNextUnwelcome() -> Bool {
    unwelcomeEvery > 0 && sent % unwelcomeEvery == 0
  }

  /// Counts a message heard.
  ///
  /// - Parameters:
  ///   - latency: since it was due, in nanoseconds.
  ///   - lag: since the first hearer had it.
  func hear(after latency: UInt64, behindFirst lag: UInt64) {
    heard += 1
    latencies.record(latency)
    lags.record(lag)
  }
}
