import Foundation

extension Line {
  /// The columns' headings, but for those that a gate adds.
  static let headings = [
    "row", "per", "who", "figure", "against", "its figure", "result", "middle half", "target",
  ]

  /// The columns' contents.
  var cells: [String] {
    let terms = Terms(comparison.target, ratio)
    return [
      row, unit, comparison.subject, text(figure.median), comparison.reference ?? "",
      reference.map { text($0.median) } ?? "", ratio.map(terms.result) ?? "",
      ratio.map(terms.middleHalf) ?? middleHalf, comparison.target.map(text) ?? "",
    ]
  }

  /// Where the middle half of the rounds lies, for a figure that stands alone.
  private var middleHalf: String {
    "\(text(figure.middleHalf.lowerBound)) – \(text(figure.middleHalf.upperBound))"
  }

  /// The target in the terms of the results.
  private func text(_ target: Target) -> String {
    switch target.goal {
    case .faster(let times): ">= \(number(times)) x faster"
    case .within(let times): "<= \(number(times)) x as long"
    case .atMost(let limit): "<= \(text(limit))"
    }
  }

  /// A figure in the unit that suits it.
  private func text(_ figure: Double) -> String {
    switch (scale, abs(figure)) {
    case (.nanoseconds, ..<1e3): "\(number(figure)) ns"
    case (.nanoseconds, ..<1e6): "\(number(figure / 1e3)) µs"
    case (.nanoseconds, _): "\(number(figure / 1e6)) ms"
    case (.bytes, ..<1e4): "\(number(figure)) B"
    case (.bytes, ..<1e6): "\(number(figure / 1e3)) kB"
    case (.bytes, _): "\(number(figure / 1e6)) MB"
    }
  }
}

/// The way a ratio is put: that of the target, or without one, the way that gives more than 1.
private enum Terms {
  case faster
  case asLong

  init(_ target: Target?, _ ratio: Samples?) {
    self =
      switch target?.goal {
      case .faster: .faster
      case .within, .atMost: .asLong
      case nil: (ratio?.median ?? 1) < 1 ? .faster : .asLong
      }
  }

  /// "3.10 x faster" or "1.20 x as long".
  func result(_ ratio: Samples) -> String {
    switch self {
    case .faster: "\(number(1 / ratio.median)) x faster"
    case .asLong: "\(number(ratio.median)) x as long"
    }
  }

  /// Where the middle half of the rounds lies.
  func middleHalf(_ ratio: Samples) -> String {
    let range = ratio.middleHalf
    return switch self {
    case .faster: "\(number(1 / range.upperBound)) – \(number(1 / range.lowerBound))"
    case .asLong: "\(number(range.lowerBound)) – \(number(range.upperBound))"
    }
  }
}

/// Three digits that count; more would be noise.
private func number(_ value: Double) -> String {
  let size = abs(value)
  let places = size < 9.995 ? 2 : size < 99.95 ? 1 : 0
  return String(format: "%.\(places)f", value)
}
