/// How many durations fell into which of fixed buckets, each twice as wide as the one before.
///
/// The first bucket is below a microsecond, the next from 1 to 2 microseconds, then to 4, and so on; the
/// last one begins at 67 seconds and has no end.
struct DurationHistogram: Sendable, Equatable {
  static let bucketCount = 28

  private(set) var counts = [Int](repeating: 0, count: bucketCount)

  /// Counts a duration, one below zero as zero.
  ///
  /// - Complexity: O(1).
  mutating func add(_ duration: Duration) {
    counts[Self.bucket(of: duration)] += 1
  }

  static func += (sum: inout Self, other: Self) {
    for bucket in sum.counts.indices { sum.counts[bucket] += other.counts[bucket] }
  }

  /// The place of a duration's bucket.
  static func bucket(of duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    guard seconds < 1000 else { return bucketCount - 1 }
    let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    guard microseconds > 0 else { return 0 }
    return min(bucketCount - 1, Int64.bitWidth - microseconds.leadingZeroBitCount)
  }
}
