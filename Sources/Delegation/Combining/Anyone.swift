/// Is true if anyone says "yes".
///
/// Decides true at the first "yes", and false once all have answered or are missing. Absentees
/// count as if they had not been asked.
///
/// **Nobody to ask:** false, decided before anybody answers.
///
/// - Complexity: O(1) time for each response, O(1) space.
@frozen
public struct Anyone: Combiner {
  /// Makes a rule that one "yes" fulfils.
  @inlinable
  public init() {}

  /// Decides false if nobody is asked.
  @inlinable
  public mutating func begin(asking count: Int) -> Bool? { count == 0 ? false : nil }

  /// Decides true at a "yes".
  @inlinable
  public mutating func receive(_ response: Bool, from position: Int) -> Bool? {
    response ? true : nil
  }

  /// Gives false: nobody has said "yes".
  @inlinable
  public mutating func finish() -> Bool { false }
}

extension Combiner where Self == Anyone {
  /// Is true if anyone says "yes"; see ``Anyone``.
  ///
  /// **Nobody to ask:** false.
  ///
  /// - Complexity: O(1).
  @inlinable
  public static var anyone: Self { Self() }
}
