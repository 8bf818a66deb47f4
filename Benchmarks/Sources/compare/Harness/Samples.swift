/// What the rounds gave for one contestant or one ratio, sorted.
struct Samples: Sendable {
  private let sorted: [Double]

  /// Sorts the values.
  ///
  /// - Parameter values: one of each round, at least one.
  init(_ values: [Double]) {
    precondition(!values.isEmpty, "there is no median of no rounds")
    sorted = values.sorted()
  }

  /// The value in the middle: a round that the machine disturbed does not move it.
  var median: Double { quantile(0.5) }

  /// The range that the middle half of the rounds lies in, which the table shows as the spread.
  var middleHalf: ClosedRange<Double> { quantile(0.25)...quantile(0.75) }

  /// Interpolates between the two nearest values.
  private func quantile(_ fraction: Double) -> Double {
    let place = fraction * Double(sorted.count - 1)
    let below = Int(place)
    let above = min(below + 1, sorted.count - 1)
    return sorted[below] + (sorted[above] - sorted[below]) * (place - Double(below))
  }
}
