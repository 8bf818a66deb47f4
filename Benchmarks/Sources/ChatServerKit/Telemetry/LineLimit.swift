/// Limits how many lines are written in a second, and counts those that are left out.
///
/// A second begins with its first line.
///
/// Invariant: while `lines` is above zero, a clock runs that ends the second.
struct LineLimit {
  static let mostLines = 20

  private var lines = 0
  private var leftOut = 0

  /// Takes a line.
  ///
  /// - Returns: whether it is to be written, and whether a second begins with it.
  mutating func add() -> (isWritten: Bool, beginsSecond: Bool) {
    guard lines < Self.mostLines else {
      leftOut += 1
      return (false, false)
    }
    lines += 1
    return (true, lines == 1)
  }

  /// Ends the second.
  ///
  /// - Returns: how many lines were left out in it.
  mutating func endSecond() -> Int {
    defer { self = LineLimit() }
    return leftOut
  }
}
