/// One line of the table: a comparison and what was measured for it.
struct Line: Sendable {
  /// The row's name.
  let row: String
  /// What one unit is: figures are per unit.
  let unit: String
  /// What figures are counted in.
  let scale: Scale
  /// What was compared, and what it should reach.
  let comparison: Comparison
  /// The subject's figures.
  let figure: Samples
  /// The other's figures, if there is another.
  var reference: Samples?
  /// The subject's figures in units of the other's, round by round.
  var ratio: Samples?

  /// The median in the target's terms; `nil` without a target.
  var result: Double? {
    comparison.target?.result(figure: figure.median, ratio: ratio?.median)
  }

  /// How far the median is from the target: 1 just reaches it; `nil` without a target.
  var excess: Double? {
    guard let result else { return nil }
    return comparison.target?.excess(of: result)
  }
}

/// What figures are counted in.
enum Scale: Sendable {
  case nanoseconds
  case bytes
}
