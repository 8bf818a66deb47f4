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

  /// Shows one contestant's time alone.
  ///
  /// - Parameters:
  ///   - subject: the contestant the line is about.
  ///   - target: what DESIGN asks for, if it does.
  /// - Returns: the line to be.
  static func alone(_ subject: String, target: Target? = nil) -> Comparison {
    Comparison(subject: subject, reference: nil, target: target)
  }
}

/// What a line of the table should reach.
enum Target: Sendable {
  /// The reference takes at least this many times as long as the subject.
  case faster(Double)
  /// The subject takes at most this many times as long as the reference.
  case within(Double)
  /// The subject takes at most this long, whatever others take.
  case absolute(Nanoseconds)

  /// How far the result is from the target: 1 just reaches it, 1.1 misses it by a tenth.
  ///
  /// - Parameters:
  ///   - time: the subject's.
  ///   - ratio: the subject's time in units of the reference's.
  /// - Returns: what was measured in units of what was asked for.
  func excess(time: Nanoseconds, ratio: Double?) -> Double {
    switch self {
    case .faster(let times): (ratio ?? .infinity) * times
    case .within(let times): (ratio ?? .infinity) / times
    case .absolute(let limit): time / limit
    }
  }
}
