/// Is true if more say "yes" than "no".
///
/// Counts answers only; absentees count neither way, and a tie is false. Decides true as soon as the
/// outstanding answers cannot catch up even if all are "no", and false as soon as "yes" cannot get
/// ahead even if all are "yes". An absentee can decide it too, as one answer fewer is outstanding.
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
  /// Is true if more say "yes" than "no", ties being false; see ``Majority``.
  ///
  /// **Nobody to ask:** false.
  ///
  /// - Complexity: O(1).
  public static var majority: Self { Self() }
}
