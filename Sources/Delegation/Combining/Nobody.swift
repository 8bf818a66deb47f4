/// Is true if nobody says "yes".
///
/// Decides false at the first "yes", and true once all have answered or are missing. It is the
/// opposite of ``Anyone``, for questions such as "does anyone object?".
///
/// **Nobody to ask:** true, decided before anybody answers.
///
/// - Complexity: O(1) time for each response, O(1) space.
public struct Nobody: Combiner {
  /// Makes a rule that one "yes" breaks.
  public init() {}

  /// Decides true if nobody is asked.
  public mutating func begin(asking count: Int) -> Bool? { count == 0 ? true : nil }

  /// Decides false at a "yes".
  public mutating func receive(_ response: Bool, from position: Int) -> Bool? {
    response ? false : nil
  }

  /// Gives true: nobody has said "yes".
  public mutating func finish() -> Bool { true }
}

extension Combiner where Self == Nobody {
  /// Is true if nobody says "yes"; see ``Nobody``.
  ///
  /// **Nobody to ask:** true.
  ///
  /// - Complexity: O(1).
  public static var nobody: Self { Self() }
}
