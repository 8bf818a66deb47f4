/// One line that a contest adds to the table: a contestant, whom it is held against, and the target.
struct Comparison: Sendable {
  /// The contestant the line is about.
  let subject: String
  /// Whom it is held against; nobody for a figure that stands alone.
  let reference: String?
  /// What DESIGN asks for, if it does.
  let target: Target?

  /// Holds one contestant against another.
  ///
  /// - Parameters:
  ///   - subject: the contestant the line is about.
  ///   - reference: whom it is held against.
  ///   - target: what DESIGN asks for, if it does.
  /// - Returns: the line to be.
  static func of(
    _ subject: String = "hub", against reference: String, target: Target? = nil
  ) -> Comparison {
    Comparison(subject: subject, reference: reference, target: target)
  }

  /// Shows one contestant's figure alone.
  ///
  /// - Parameters:
  ///   - subject: the contestant the line is about.
  ///   - target: what DESIGN asks for, if it does.
  /// - Returns: the line to be.
  static func alone(_ subject: String, target: Target? = nil) -> Comparison {
    Comparison(subject: subject, reference: nil, target: target)
  }
}
