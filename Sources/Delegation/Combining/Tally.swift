/// The combiner of one question's answers, and how many answers are outstanding.
@frozen @usableFromInline
struct Tally<C: Combiner, Failure: Error>: Tallying {
  @usableFromInline typealias Event = Answer<C.Response, Failure>
  @usableFromInline typealias Decision = Result<C.Outcome, Failure>

  /// `nil` after the decision.
  @usableFromInline var combiner: C?
  @usableFromInline var outstanding: Int
  /// Which positions are outstanding; `nil` if the question has no deadline.
  @usableFromInline var isOutstanding: [Bool]?

  /// Call ``expire(counting:)`` only if `hasDeadline`.
  @inlinable
  init(asking count: Int, combiner: C, hasDeadline: Bool = false) {
    (self.combiner, outstanding) = (combiner, count)
    isOutstanding = hasDeadline ? Array(repeating: true, count: count) : nil
  }

  /// Tells the combiner how many subscribers will be asked.
  ///
  /// - Returns: the outcome if nobody need be asked.
  @inlinable
  mutating func begin() -> Decision? {
    if let outcome = combiner?.begin(asking: outstanding) { return .success(outcome) }
    return outstanding == 0 ? finish() : nil
  }

  /// Counts one subscriber's answer.
  ///
  /// - Returns: the decision, if there is one now; nothing may be counted after it.
  @inlinable
  mutating func count(_ answer: Event, from position: Int) -> Decision? {
    outstanding -= 1
    isOutstanding?[position] = false
    let outcome: C.Outcome?
    switch answer {
    case .response(let response): outcome = combiner?.receive(response, from: position)
    case .substitute(let response): outcome = receive(substitute: response, from: position)
    case .absence: outcome = combiner?.receiveNothing(from: position)
    case .failure(let error): return .failure(error)
    }
    if let outcome { return .success(outcome) }
    return outstanding == 0 ? finish() : nil
  }

  /// Passes the combiner a response that counts in place of an answer; only a ``BooleanRule`` tells it from an answer.
  @inlinable @inline(never)
  mutating func receive(substitute response: C.Response, from position: Int) -> C.Outcome? {
    guard var rule = combiner as? BooleanRule, let response = response as? Bool else {
      return combiner?.receive(response, from: position)
    }
    let outcome = rule.receive(substitute: response, from: position)
    combiner = rule as? C
    return outcome as? C.Outcome
  }

  /// Ends the count at the deadline.
  ///
  /// - Parameter absence: what to count for a position that has not answered; called for each such
  ///   position, in order, before any is counted.
  /// - Returns: the decision.
  @inlinable
  mutating func expire(counting absence: (Int) -> Event) -> Decision {
    let late = outstanding
    // The handlers of late subscribers still run, so their answers stay outstanding.
    defer { outstanding = late }
    let positions = (isOutstanding ?? []).enumerated().filter { $0.element }
    for (position, answer) in positions.map({ ($0.offset, absence($0.offset)) }) {
      if let decision = count(answer, from: position) { return decision }
    }
    return finish()
  }

  /// Releases what only the decision needed, because a late handler keeps the tally alive.
  ///
  /// - Returns: whether no answer is outstanding.
  @inlinable
  mutating func clear() -> Bool {
    (isOutstanding, combiner) = (nil, nil)
    return outstanding == 0
  }

  @inlinable
  mutating func finish() -> Decision {
    guard let outcome = combiner?.finish() else {
      fatalError("Delegation: a tally was counted after it was cleared")
    }
    return .success(outcome)
  }
}

/// What one subscriber contributes to a question.
@usableFromInline
enum Answer<Response: Sendable, Failure: Error>: Sendable {
  case response(Response)
  /// The subscriber threw or is late, and this response is counted in its place.
  case substitute(Response)
  /// The subscriber was not asked, or it abstains.
  case absence
  /// The subscriber's handler threw, which fails the call.
  case failure(Failure)
}

extension DelegateHub {
  /// What a call counts for a subscriber whose handler throws or is late.
  ///
  /// A vote that fails open lets such subscribers abstain. A vote that fails closed counts them as a "no", and also
  /// says how many must have answered, because a subscriber that has died or was unsubscribed says nothing:
  ///
  /// ```swift
  /// let isAllowed = await hub[Gatekeeper.self].vote(
  ///   by: .unanimous(ofAtLeast: 2), within: .milliseconds(50), absent: .counts(as: false)
  /// ) { try await $0.mayEnter(guest) }
  /// ```
  @frozen
  public struct Absence<Response: Sendable>: Sendable, CustomStringConvertible {
    /// The response that is counted; `nil` if the subscriber abstains.
    @usableFromInline let substitute: Response?

    @inlinable init(substitute: Response?) { self.substitute = substitute }

    /// The combiner learns that the subscriber is absent, like one that has died.
    @inlinable public static var abstains: Self { Self(substitute: nil) }

    /// The combiner is given a response instead of the subscriber's.
    ///
    /// A combiner takes this response for an answer; only `ofAtLeast:` does not count it.
    ///
    /// - Parameter response: what to count.
    /// - Returns: the rule for absentees.
    @inlinable
    public static func counts(as response: Response) -> Self { Self(substitute: response) }

    /// What is counted, in words.
    public var description: String { substitute.map { "counts as \($0)" } ?? "abstains" }
  }
}

/// What a question needs of its tally.
@usableFromInline
protocol Tallying: Sendable {
  associatedtype Event: Sendable
  associatedtype Decision: Sendable

  mutating func count(_ answer: Event, from position: Int) -> Decision?
  mutating func expire(counting absence: (Int) -> Event) -> Decision
  mutating func clear() -> Bool
}
