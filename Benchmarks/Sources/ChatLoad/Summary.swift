import ChatLoadKit

/// The medians of some runs.
struct Summary {
  private let runs: [Run]

  init(_ runs: [Run]) {
    self.runs = runs
  }

  /// A row of the table.
  func row(_ name: String) -> String {
    let latencies = [50, 99, 99.9].map { percentile in
      median { $0.result.latency(percentile) }.shown + " ms"
    }
    let processor = median(Self.processor)
    let memory = median { Double($0.peakMemory ?? 0) / 1_048_576 }
    let throughput = Int(median { $0.result.throughput }).formatted
    let cells =
      [name, throughput] + latencies + [
        "\(processor.shown) µs a message heard", "\(memory.shown) MB",
      ]
    return "| " + cells.joined(separator: " | ") + " |"
  }

  /// The median of the ratios of processor times a message heard, of runs of the same round.
  func processorRatio(to other: Summary) -> Double {
    let ratios = zip(runs, other.runs).map { Self.processor(of: $0) / Self.processor(of: $1) }
    return ratios.sorted()[ratios.count / 2]
  }

  /// Microseconds of processor time a message heard.
  private static func processor(of run: Run) -> Double {
    run.processorTime.map { $0 / .seconds(1) * 1_000_000 / Double(run.result.heard) } ?? .nan
  }

  private func median(_ value: (Run) -> Double) -> Double {
    runs.map(value).sorted()[runs.count / 2]
  }
}
