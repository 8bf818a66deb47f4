/// Follows another rule if enough subscribers have answered, and is false otherwise.
///
/// For votes that must fail closed: a subscriber that is not there, has died unnoticed or does not
/// answer must not count as agreement. Decides false as soon as too few answers are left to reach
/// the number, possibly before anybody is asked. Otherwise it decides when the rule has decided.
/// For a "yes", enough must have answered as well.
///
/// **Who has answered:** a subscriber whose handler has returned. The dead and the absent are not
/// counted, even if `absent:` is `.counts(as:)`. The rule receives that response, so `.counts(as:
/// false)` still denies. But it is the caller's word, and not the subscriber's.
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
  /// The rule's decision; the rule is not called again after it.
  private var verdict: Bool?

  /// Makes a rule that asks for a number of answers.
  ///
  /// - Parameters:
  ///   - rule: what decides if there are enough answers.
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

  /// Decides false if the number is greater than the number asked.
  public mutating func begin(asking count: Int) -> Bool? {
    outstanding = count
    verdict = rule.begin(asking: count)
    return decision
  }

  /// Decides if the rule has decided and enough have answered, or if enough answers can no longer come.
  public mutating func receive(_ response: Bool, from position: Int) -> Bool? {
    outstanding -= 1
    answers += 1
    if verdict == nil { verdict = rule.receive(response, from: position) }
    return decision
  }

  /// Lets the rule count the response, which is not an answer of the subscriber.
  public mutating func receive(_ response: Bool, inPlaceOf position: Int) -> Bool? {
    outstanding -= 1
    if verdict == nil { verdict = rule.receive(response, inPlaceOf: position) }
    return decision
  }

  /// Decides false if enough answers can no longer come without the absentee.
  public mutating func receiveNothing(from position: Int) -> Bool? {
    outstanding -= 1
    if verdict == nil { verdict = rule.receiveNothing(from: position) }
    return decision
  }

  /// Gives the rule's outcome if enough have answered, otherwise false.
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
