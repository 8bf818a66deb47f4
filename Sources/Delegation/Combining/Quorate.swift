/// Follows another rule if enough subscribers have answered, and is false otherwise.
///
/// For votes that have to fail closed: nobody subscribed, a subscriber that has died unnoticed and one
/// that does not answer must not pass for agreement. Decides false as soon as those outstanding are
/// too few to make up the number, be it at once, and otherwise as soon as the rule has decided and, for
/// a "yes", enough have answered.
///
/// **Who has answered:** a subscriber whose handler has returned. The dead and the absent are not
/// counted, not even those for whom `absent:` is `.counts(as:)`: the rule is given that response, so
/// that `.counts(as: false)` still denies, but it is the caller who has said it, and a number that the
/// caller's own word could make up would not show that anybody has agreed.
///
/// **Nobody to ask:** false for a number of 1 or more, decided before anybody answers; for 0 what the
/// rule says.
///
/// - Complexity: that of the rule, and O(1).
public struct Quorate<Rule: Combiner<Bool, Bool>>: Combiner {
  private var rule: Rule
  private let quorum: Int
  private var answers = 0
  private var outstanding = 0
  /// What the rule has decided; it is not called again after that.
  private var verdict: Bool?

  /// Makes a rule that asks for a number of answers.
  ///
  /// - Parameters:
  ///   - rule: what the answers come to if there are enough.
  ///   - quorum: how many must have answered; stops the program if below 0.
  public init(_ rule: Rule, ofAtLeast quorum: Int) {
    // Not `precondition`: its message is not printed in release builds.
    guard quorum >= 0 else {
      fatalError(
        "A vote with (ofAtLeast: \(quorum)) asks for less than 0 answers. Pass how many subscribers must "
          + "have answered for a \"yes\": 0 (the plain rule) or more.")
    }
    self.rule = rule
    self.quorum = quorum
  }

  /// Decides false if the number is greater than that of those asked.
  public mutating func begin(asking count: Int) -> Bool? {
    outstanding = count
    verdict = rule.begin(asking: count)
    return decision
  }

  /// Decides if the rule has and there are answers enough, or if there cannot be.
  public mutating func receive(_ response: Bool, from position: Int) -> Bool? {
    outstanding -= 1
    answers += 1
    if verdict == nil { verdict = rule.receive(response, from: position) }
    return decision
  }

  /// Lets the rule count the response, which is nobody's answer.
  public mutating func receive(_ response: Bool, inPlaceOf position: Int) -> Bool? {
    outstanding -= 1
    if verdict == nil { verdict = rule.receive(response, inPlaceOf: position) }
    return decision
  }

  /// Decides false if there cannot be enough answers without the absentee.
  public mutating func receiveNothing(from position: Int) -> Bool? {
    outstanding -= 1
    if verdict == nil { verdict = rule.receiveNothing(from: position) }
    return decision
  }

  /// Gives what the rule says if enough have answered.
  public mutating func finish() -> Bool { answers >= quorum && (verdict ?? rule.finish()) }

  private var decision: Bool? {
    if verdict == false || answers + outstanding < quorum { return false }
    return answers >= quorum ? verdict : nil
  }
}

extension Combiner where Self == Quorate<Unanimous> {
  /// Is true if at least `quorum` subscribers have answered and none of them says "no"; see
  /// ``Quorate``.
  ///
  /// For votes that have to fail closed: `.unanimous` is true if nobody is there to object.
  ///
  /// **Nobody to ask:** false, or true for 0.
  ///
  /// - Parameter quorum: how many must have answered, the dead and the absent not counted; stops the
  ///   program if below 0.
  /// - Returns: the rule.
  /// - Complexity: O(1).
  public static func unanimous(ofAtLeast quorum: Int) -> Self {
    Self(.unanimous, ofAtLeast: quorum)
  }
}

extension Combiner where Self == Quorate<Nobody> {
  /// Is true if at least `quorum` subscribers have answered and none of them says "yes"; see
  /// ``Quorate``.
  ///
  /// **Nobody to ask:** false, or true for 0.
  ///
  /// - Parameter quorum: how many must have answered, the dead and the absent not counted; stops the
  ///   program if below 0.
  /// - Returns: the rule.
  /// - Complexity: O(1).
  public static func nobody(ofAtLeast quorum: Int) -> Self {
    Self(.nobody, ofAtLeast: quorum)
  }
}
