import Histogram
import Synchronization

/// How long it took from posting to the beginning of handlers, in nanoseconds.
///
/// In shards, lest those who record wait for each other.
final class Latencies: Sendable {
  private final class Shard: Sendable {
    let histogram = Mutex(
      Histogram<UInt64>(
        highestTrackableValue: 3_600_000_000_000, numberOfSignificantValueDigits: .three))
  }

  private let shards = (0..<16).map { _ in Shard() }

  /// Records one.
  ///
  /// - Parameters:
  ///   - nanoseconds: how long it took.
  ///   - number: whose it is, which says into which shard.
  func record(_ nanoseconds: UInt64, of number: Int) {
    shards[number % shards.count].histogram.withLock { _ = $0.record(nanoseconds) }
  }

  /// All of them together.
  func merged() -> Histogram<UInt64> {
    var all = shards[0].histogram.withLock { $0 }
    for shard in shards.dropFirst() {
      shard.histogram.withLock { all.add($0) }
    }
    return all
  }
}
