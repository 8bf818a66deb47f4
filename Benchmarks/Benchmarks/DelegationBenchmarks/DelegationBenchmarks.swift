import Benchmark

/// The hub alone, in percentiles, for one build to be held against another.
///
/// What it costs beside its peers is `compare`'s to say: two processes' times are not comparable on a
/// machine that has other work.
let benchmarks: @Sendable () -> Void = {
  Benchmark.defaultConfiguration = .init(
    metrics: [.wallClock, .throughput],
    maxDuration: .milliseconds(500),
    maxIterations: 100_000,
    // Two runs of the same build differ by a tenth at the median, by more at the end.
    thresholds: [
      .wallClock: .init(relative: [.p50: 20, .p90: 40]),
      .throughput: .init(relative: [.p50: 20, .p90: 40]),
    ])
  telling()
  asking()
  subscribing()
  controls()
}
