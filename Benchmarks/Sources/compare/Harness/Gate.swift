/// Decides which missed targets fail the program.
struct Gate: Sendable {
  /// What is to be said of a line that has a target.
  enum Verdict: String, Sendable {
    /// The target is reached.
    case reached = "yes"
    /// It is missed, but by no more than its noise allowance.
    case narrow = "within noise"
    /// It is missed as is known, and no worse than that but for noise.
    case known = "no, known"
    /// It is missed.
    case missed = "no"
    /// It was known to be missed, and is missed by more now.
    case worse = "no, and worse"

    /// Whether this fails the program.
    var fails: Bool { self == .missed || self == .worse }
  }

  /// By which part a ratio of times may miss its target before that is more than noise.
  let noise: Double
  /// The targets that are known to be missed.
  let shortfalls: [Shortfall]

  /// By which part a line may miss its target, or be worse than it is known to be.
  ///
  /// - Parameter line: one of the table's.
  /// - Returns: its allowance; `nil` without a target.
  func allowance(for line: Line) -> Double? {
    line.comparison.target?.allowance(usual: noise)
  }

  /// Judges a line.
  ///
  /// - Parameter line: one of the table's.
  /// - Returns: the verdict; `nil` without a target.
  func verdict(on line: Line) -> Verdict? {
    guard let target = line.comparison.target, let excess = line.excess,
      let allowance = allowance(for: line)
    else { return nil }
    if excess <= 1 { return .reached }
    if let known = shortfalls.first(where: { $0.names(line) }) {
      return excess <= target.excess(of: known.result) * (1 + allowance) ? .known : .worse
    }
    return excess <= 1 + allowance ? .narrow : .missed
  }

  /// The known shortfalls that are none any more.
  ///
  /// - Parameter lines: the table's.
  /// - Returns: those whose targets are reached.
  func overcome(in lines: [Line]) -> [Shortfall] {
    shortfalls.filter { shortfall in
      lines.contains { shortfall.names($0) && verdict(on: $0) == .reached }
    }
  }

  /// The known shortfalls that are about no target at all.
  ///
  /// - Parameter lines: all lines of a whole table.
  /// - Returns: those that no line with a target bears out.
  func baseless(in lines: [Line]) -> [Shortfall] {
    shortfalls.filter { shortfall in
      !lines.contains { shortfall.names($0) && $0.comparison.target != nil }
    }
  }
}
