/// A target that is known to be missed, and by how much.
struct Shortfall: Sendable, CustomStringConvertible {
  /// The row's name.
  let row: String
  /// The contestant whom the line is about.
  let subject: String
  /// Whom it is held against; `nil` for a figure that stands alone.
  let reference: String?
  /// The median of a full run on a quiet machine, as the table's result shows it: how many times
  /// faster or as long, or the figure itself.
  let result: Double

  /// Notes a shortfall.
  ///
  /// - Parameters:
  ///   - row: the row's name.
  ///   - subject: the contestant whom the line is about.
  ///   - reference: whom it is held against.
  ///   - result: the median as the table's result shows it.
  init(_ row: String, _ subject: String = "hub", against reference: String?, result: Double) {
    self.row = row
    self.subject = subject
    self.reference = reference
    self.result = result
  }

  /// Whether it is about this line.
  ///
  /// - Parameter line: one of the table's.
  /// - Returns: whether it is.
  func names(_ line: Line) -> Bool {
    row == line.row && subject == line.comparison.subject
      && reference == line.comparison.reference
  }

  /// Which line it is about.
  var description: String {
    "\(row): \(subject)" + (reference.map { " against \($0)" } ?? "")
  }
}
