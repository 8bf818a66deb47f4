/// A rule that decides a vote by the number of "yes" and "no", such as ``Combiner/unanimous``.
///
/// Each rule asks whether enough subscribers give one of the two answers, and decides as soon as the answers that are
/// still to come can no longer change the outcome.
///
/// An *absentee*, who gives no answer, counts neither way. A rule with `ofAtLeast:` is false as soon as too few can
/// still answer. **Who has answered:** a subscriber whose handler has returned, and none that is dead or absent, even
/// with `absent: .counts(as:)`. The rule does receive the response that is counted, so `.counts(as: false)` still
/// denies; but this response is the caller's word, not the subscriber's.
///
/// - Complexity: O(1) time for each response and absentee, O(1) space.
@frozen
public struct BooleanRule: Combiner {
  /// The answer that is counted: true is "yes".
  @usableFromInline let counted: Bool
  /// The outcome if enough subscribers give the `counted` answer.
  @usableFromInline let outcome: Bool
  /// The weight of one answer in `needed` and `tolerated`: 1, but 2 in a majority, where an absentee lowers both by 1.
  @usableFromInline let weight: Int8
  /// Whether the user has named how many have to give the counted answer, as in ``atLeast(_:)``.
  @usableFromInline let namesNumber: Bool
  // The numbers have 32 bits, because a vote copies its rule several times.
  /// The weight of `counted` answers that are still needed for `outcome`.
  @usableFromInline var needed: Int32
  /// How much more weight of other answers and absentees would put `outcome` out of reach.
  @usableFromInline var tolerated: Int32 = 0
  /// How many more subscribers may fail to answer, by `ofAtLeast:`; below 0, too few can answer.
  @usableFromInline var spare: Int32

  @inlinable
  init(
    _ outcome: Bool, ifSaid counted: Bool, by number: Int = 1, weighing weight: Int8 = 1,
    ofAtLeast quorum: Int = 0, namesNumber: Bool = false
  ) {
    self.namesNumber = namesNumber
    // Not `precondition`: its message is not printed in release builds.
    if Swift.min(number, quorum) < 0 { Self.refuse(number, quorum: quorum) }
    (self.outcome, self.counted, self.weight) = (outcome, counted, weight)
    (needed, spare) = (Self.clamped(number), -Self.clamped(quorum))
  }

  /// Limits a number to 2^29, which is more than a hub has subscribers, so that sums do not overflow.
  @inlinable
  static func clamped(_ number: Int) -> Int32 {
    Int32(truncatingIfNeeded: Swift.min(number, 1 << 29))
  }

  /// Decides if the number of subscribers alone fixes the outcome.
  @inlinable
  public mutating func begin(asking count: Int) -> Bool? {
    let count = Self.clamped(count)
    spare &+= count
    if weight > 1 { needed = count &+ 1 }
    tolerated = Int32(weight) &* count &+ 1 &- needed
    return decision
  }

  /// Counts an answer, and decides if the outcome can change no more.
  @inlinable
  public mutating func receive(_ response: Bool, from position: Int) -> Bool? {
    if response == counted {
      needed &-= Int32(weight)
      return needed <= 0 ? outcome : nil
    }
    tolerated &-= Int32(weight)
    return tolerated <= 0 ? !outcome : nil
  }

  /// Counts an absentee, and decides if the outcome can change no more.
  @inlinable
  public mutating func receiveNothing(from position: Int) -> Bool? {
    spare &-= 1
    needed &-= Int32(weight) &- 1
    tolerated &-= 1
    return decision
  }

  /// Gives the outcome of the answers received.
  @inlinable
  public mutating func finish() -> Bool { (needed <= (weight > 1 ? tolerated : 0)) == outcome }

  /// Takes a response that the caller counts in place of an answer.
  @usableFromInline
  mutating func receive(substitute response: Bool, from position: Int) -> Bool? {
    spare &-= 1
    let outcome = receive(response, from: position)
    return spare < 0 ? false : outcome
  }

  /// How many answers the rule needs, if `count` subscribers cannot give so many; otherwise 0.
  ///
  /// Call it only after ``begin(asking:)``.
  func shortage(among count: Int) -> Int {
    let count = Self.clamped(count)
    return spare < 0 ? Int(count &- spare) : namesNumber && needed > count ? Int(needed) : 0
  }

  // With `ofAtLeast:`, a rule is true only after the last answer, when `spare` can fall no more.
  @inlinable
  var decision: Bool? {
    if spare < 0 { return false }
    if needed <= 0 { return outcome }
    return tolerated <= 0 ? !outcome : nil
  }

  @usableFromInline
  static func refuse(_ number: Int, quorum: Int) -> Never {
    fatalError(
      number < 0
        ? "The quorum of .atLeast(\(number)) is below 0. Pass how many subscribers must say \"yes\": "
          + "0 (always true) or more."
        : "A vote with (ofAtLeast: \(quorum)) asks for less than 0 answers. Pass how many subscribers "
          + "must have answered for a \"yes\": 0 (the plain rule) or more.")
  }
}

extension Combiner where Self == BooleanRule {
  /// Is true if nobody who answers says "no".
  ///
  /// Decides false at the first "no", and true once all have answered or are missing.
  ///
  /// **Nobody to ask:** true.
  ///
  /// - Complexity: O(1).
  @inlinable
  public static var unanimous: Self { Self(false, ifSaid: false) }

  /// Is true if at least `quorum` subscribers have answered and none of them says "no".
  ///
  /// For votes that have to fail closed: `.unanimous` is true if nobody is there to object.
  ///
  /// **Nobody to ask:** false, or true for quorum 0.
  ///
  /// - Parameter quorum: how many must have answered, the dead and the absent not counted; stops the
  ///   program if below 0.
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func unanimous(ofAtLeast quorum: Int) -> Self {
    Self(false, ifSaid: false, ofAtLeast: quorum)
  }

  /// Is true if nobody says "yes": the opposite of ``anyone``, for questions such as "does anyone object?".
  ///
  /// Decides false at the first "yes", and true once all have answered or are missing.
  ///
  /// **Nobody to ask:** true.
  ///
  /// - Complexity: O(1).
  @inlinable
  public static var nobody: Self { Self(false, ifSaid: true) }

  /// Is true if at least `quorum` subscribers have answered and none of them says "yes".
  ///
  /// **Nobody to ask:** false, or true for quorum 0.
  ///
  /// - Parameter quorum: as in ``unanimous(ofAtLeast:)``; stops the program if below 0.
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func nobody(ofAtLeast quorum: Int) -> Self {
    Self(false, ifSaid: true, ofAtLeast: quorum)
  }

  /// Is true if anyone says "yes".
  ///
  /// Decides true at the first "yes", and false once all have answered or are missing.
  ///
  /// **Nobody to ask:** false.
  ///
  /// - Complexity: O(1).
  @inlinable
  public static var anyone: Self { Self(true, ifSaid: true) }

  /// Is true if more say "yes" than "no"; a tie is false.
  ///
  /// Only answers count. An absentee can decide too, because it leaves one answer fewer to come.
  ///
  /// **Nobody to ask:** false.
  ///
  /// - Complexity: O(1).
  @inlinable
  public static var majority: Self { Self(true, ifSaid: true, weighing: 2) }

  /// Is true if at least `quorum` subscribers say "yes".
  ///
  /// Decides true at the "yes" that reaches the quorum, and false at the "no" or the absentee after which too few
  /// answers are left to reach it. If the quorum is 0, or greater than the number of subscribers, the rule decides
  /// before anybody is asked.
  ///
  /// **Nobody to ask:** false for a quorum of 1 or more, true for 0.
  ///
  /// - Parameter quorum: how many must say "yes"; stops the program if below 0.
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func atLeast(_ quorum: Int) -> Self {
    Self(true, ifSaid: true, by: quorum, namesNumber: true)
  }
}
