import Foundation

/// One line of the table: a comparison and what was measured for it.
struct Line: Sendable {
  /// The columns' headings.
  static let headings = [
    "row", "per", "who", "time", "against", "its time", "result", "middle half", "target",
    "reached",
  ]

  /// The columns' contents.
  let cells: [String]
  /// How far the median is from the target: 1 just reaches it; `nil` without a target.
  let excess: Double?

  /// Puts a result into words.
  ///
  /// - Parameters:
  ///   - contest: whose line it is.
  ///   - comparison: what was compared.
  ///   - time: the subject's times.
  ///   - reference: the other's times, if there is another.
  ///   - ratio: the subject's times in units of the other's, round by round.
  init(
    contest: Contest, comparison: Comparison, time: Samples, reference: Samples? = nil,
    ratio: Samples? = nil
  ) {
    excess = comparison.target?.excess(time: time.median, ratio: ratio?.median)
    let terms = Terms(comparison.target, ratio)
    cells = [
      contest.id, contest.unit, comparison.subject, text(time.median), comparison.reference ?? "",
      reference.map { text($0.median) } ?? "", ratio.map(terms.result) ?? "",
      ratio.map(terms.middleHalf) ?? middleHalf(time), comparison.target.map(text) ?? "",
      excess.map { $0 <= 1 ? "yes" : "no" } ?? "",
    ]
  }
}

/// The way a ratio is put: that of the target, or without one, the way that gives more than 1.
private enum Terms {
  case faster
  case asLong

  init(_ target: Target?, _ ratio: Samples?) {
    self =
      switch target {
      case .faster: .faster
      case .within, .absolute: .asLong
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

/// Where the middle half of the rounds lies, for a time that stands alone.
private func middleHalf(_ time: Samples) -> String {
  "\(text(time.middleHalf.lowerBound)) – \(text(time.middleHalf.upperBound))"
}

/// The target in the terms of the results.
private func text(_ target: Target) -> String {
  switch target {
  case .faster(let times): ">= \(number(times)) x faster"
  case .within(let times): "<= \(number(times)) x as long"
  case .absolute(let limit): "<= \(text(limit))"
  }
}

/// A time in the unit that suits it.
private func text(_ time: Nanoseconds) -> String {
  switch time {
  case ..<1e3: "\(number(time)) ns"
  case ..<1e6: "\(number(time / 1e3)) µs"
  default: "\(number(time / 1e6)) ms"
  }
}

/// Three digits that count; more would be noise.
private func number(_ value: Double) -> String {
  let places = value < 9.995 ? 2 : value < 99.95 ? 1 : 0
  return String(format: "%.\(places)f", value)
}
