/// Is true if more say "yes" than "no".
///
/// Only answers count, and a tie is false. Decides as soon as the answers that are still to come
/// can no longer change the outcome. An absentee can decide it too, because then one answer fewer
/// is to come.
///
/// **Nobody to ask:** false, decided before anybody answers.
///
/// - Complexity: O(1) time for each response and absentee, O(1) space.
public struct Majority: Combiner {
  /// How many more have said "yes" than "no".
  private var lead = 0
  private var outstanding = 0

  /// Makes a rule that the greater number decides.
  public init() {}

  /// Decides false if nobody is asked.
  public mutating func begin(asking count: Int) -> Bool? {
    outstanding = count
    return decision
  }

  /// Decides once the outstanding answers can no longer change the outcome.
  public mutating func receive(_ response: Bool, from position: Int) -> Bool? {
    outstanding -= 1
    lead += response ? 1 : -1
    return decision
  }

  /// Decides if the absentee was needed to change the outcome.
  public mutating func receiveNothing(from position: Int) -> Bool? {
    outstanding -= 1
    return decision
  }

  /// Gives whether more have said "yes" than "no".
  public mutating func finish() -> Bool { lead > 0 }

  private var decision: Bool? {
    if lead > outstanding { return true }
    if lead + outstanding <= 0 { return false }
    return nil
  }
}

extension Combiner where Self == Majority {
  /// Is true if more say "yes" than "no"; a tie is false; see ``Majority``.
  ///
  /// **Nobody to ask:** false.
  ///
  /// - Complexity: O(1).
  public static var majority: Self { Self() }
}
