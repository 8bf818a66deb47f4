/// Is true if at least a given number say "yes".
///
/// Decides true at the "yes" that reaches the quorum. Decides false at the "no" or the absentee
/// after which too few answers are left to reach it. If the quorum is 0, or greater than the number
/// of subscribers, it decides before anybody is asked.
///
/// **Nobody to ask:** false for a quorum of 1 or more, true for 0, decided before anybody answers.
///
/// - Complexity: O(1) time for each response and absentee, O(1) space.
public struct AtLeast: Combiner {
  private let quorum: Int
  private var yes = 0
  private var outstanding = 0

  /// Makes a rule that a number of "yes" fulfils.
  ///
  /// - Parameter quorum: how many must say "yes"; stops the program if below 0.
  public init(_ quorum: Int) {
    // Not `precondition`: its message is not printed in release builds.
    guard quorum >= 0 else {
      fatalError(
        "The quorum of .atLeast(\(quorum)) is below 0. Pass how many subscribers must say \"yes\": "
          + "0 (always true) or more.")
    }
    self.quorum = quorum
  }

  /// Decides true if the quorum is 0, false if it is greater than the number asked.
  public mutating func begin(asking count: Int) -> Bool? {
    outstanding = count
    return decision
  }

  /// Decides true if the quorum is now filled, false if it no longer can be.
  public mutating func receive(_ response: Bool, from position: Int) -> Bool? {
    outstanding -= 1
    if response { yes += 1 }
    return decision
  }

  /// Decides false if the quorum cannot be filled without the absentee.
  public mutating func receiveNothing(from position: Int) -> Bool? {
    outstanding -= 1
    return decision
  }

  /// Gives whether the quorum is filled.
  public mutating func finish() -> Bool { yes >= quorum }

  private var decision: Bool? {
    if yes >= quorum { return true }
    if yes + outstanding < quorum { return false }
    return nil
  }
}

extension Combiner where Self == AtLeast {
  /// Is true if at least `quorum` say "yes"; see ``AtLeast``.
  ///
  /// **Nobody to ask:** false for a quorum of 1 or more, true for 0.
  ///
  /// - Parameter quorum: how many must say "yes"; stops the program if below 0.
  /// - Returns: the rule.
  /// - Complexity: O(1).
  public static func atLeast(_ quorum: Int) -> Self { Self(quorum) }
}
