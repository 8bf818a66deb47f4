/// Is true if nobody who answers says "no".
///
/// Decides false at the first "no", and true once all have answered or are missing. Absentees count
/// neither way.
///
/// **Nobody to ask:** true, decided before anybody answers.
///
/// - Complexity: O(1) time for each response, O(1) space.
@frozen
public struct Unanimous: Combiner {
  /// Makes a rule that one "no" breaks.
  @inlinable
  public init() {}

  /// Decides true if nobody is asked.
  @inlinable
  public mutating func begin(asking count: Int) -> Bool? { count == 0 ? true : nil }

  /// Decides false at a "no".
  @inlinable
  public mutating func receive(_ response: Bool, from position: Int) -> Bool? {
    response ? nil : false
  }

  /// Gives true: nobody has said "no".
  @inlinable
  public mutating func finish() -> Bool { true }
}

extension Combiner where Self == Unanimous {
  /// Is true if nobody who answers says "no"; see ``Unanimous``.
  ///
  /// **Nobody to ask:** true.
  ///
  /// - Complexity: O(1).
  @inlinable
  public static var unanimous: Self { Self() }
}
