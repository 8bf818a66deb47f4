import Testing

@testable import Delegation

/// Every combiner against a plain model: all answers, all absences, many orders of arrival.
@Suite("Guarantee 9: combiners decide right, and neither late nor early", .inTurn(.heavy))
struct CombinerBruteForceTests {
  @Test("unanimous: false at the first no")
  func unanimous() {
    check(.unanimous, answers: votes) { !$0.inOrder().contains(false) }
  }

  @Test("anyone: true at the first yes")
  func anyone() {
    check(.anyone, answers: votes) { $0.inOrder().contains(true) }
  }

  @Test("nobody: false at the first yes")
  func nobody() {
    check(.nobody, answers: votes) { !$0.inOrder().contains(true) }
  }

  @Test("majority: as soon as those outstanding cannot turn it")
  func majority() {
    check(.majority, answers: votes) { arrivals in
      let yes = arrivals.inOrder().count { $0 }
      return yes > arrivals.inOrder().count - yes
    }
  }

  @Test("atLeast: as soon as the quorum is filled or out of reach", arguments: 0...7)
  func atLeast(quorum: Int) {
    check(.atLeast(quorum), answers: votes) { $0.inOrder().count { $0 } >= quorum }
  }

  @Test("unanimous(ofAtLeast:): false at the first no, or without enough answers", arguments: 0...5)
  func unanimousQuorum(quorum: Int) {
    check(.unanimous(ofAtLeast: quorum), answers: votes, substituting: true) {
      $0.answered() >= quorum && !$0.inOrder().contains(false)
    }
  }

  @Test("nobody(ofAtLeast:): false at the first yes, or without enough answers", arguments: 0...5)
  func nobodyQuorum(quorum: Int) {
    check(.nobody(ofAtLeast: quorum), answers: votes, substituting: true) {
      $0.answered() >= quorum && !$0.inOrder().contains(true)
    }
  }

  @Test("firstNonNil: the first to come that is not nil")
  func firstNonNil() {
    check(.firstNonNil(), answers: remarks) { $0.lazy.compactMap { $0.answer ?? nil }.first }
  }

  @Test("first: the first to come")
  func first() {
    check(.first(), answers: numbers) { $0.lazy.compactMap(\.answer).first }
  }

  @Test("all: in the order of the subscriptions")
  func all() {
    check(.all(), answers: numbers) { $0.inOrder() }
  }

  @Test("sum")
  func sum() {
    check(.sum(), answers: numbers) { $0.inOrder().reduce(0, +) }
  }

  @Test("min: of equals, the first in the order of the subscriptions")
  func min() {
    check(.min(), answers: ranked, unforeseen: Ranked(rank: 0, owner: -1)) { arrivals in
      let answers = arrivals.inOrder()
      let lowest = answers.map(\.rank).min()
      return answers.first { $0.rank == lowest }
    }
  }

  @Test("max: of equals, the first in the order of the subscriptions")
  func max() {
    check(.max(), answers: ranked, unforeseen: Ranked(rank: 9, owner: -1)) { arrivals in
      let answers = arrivals.inOrder()
      let highest = answers.map(\.rank).max()
      return answers.first { $0.rank == highest }
    }
  }

  @Test("reduce: a function that is not commutative, in the order of the subscriptions")
  func reduce() {
    check(.reduce("") { @Sendable in "\($0)(\($1))" }, answers: numbers) { arrivals in
      arrivals.inOrder().map { "(\($0))" }.joined()
    }
  }
}

// MARK: - What is answered

extension Combiner {
  /// Takes what the caller counts in a subscriber's place, as a ballot does.
  fileprivate mutating func receive(_ response: Response, inPlaceOf position: Int) -> Outcome? {
    if var rule = self as? BooleanRule, let response = response as? Bool {
      let outcome = rule.receive(response, inPlaceOf: position)
      self = rule as? Self ?? self
      return outcome as? Outcome
    }
    return receive(response, from: position)
  }
}

private func votes(of position: Int) -> [Bool] { [true, false] }

private func numbers(of position: Int) -> [Int] { [2 * position + 1, 2 * position + 2] }

private func remarks(of position: Int) -> [Int?] { [nil, position] }

private func ranked(of position: Int) -> [Ranked] {
  [Ranked(rank: 1, owner: position), Ranked(rank: 2, owner: position)]
}

/// Ranks alike whoever owns it, yet equal only if of one owner: ties can be told apart.
private struct Ranked: Comparable, Sendable {
  let rank: Int
  let owner: Int

  static func < (left: Ranked, right: Ranked) -> Bool { left.rank < right.rank }
}

// MARK: - The search

/// A subscriber's answer, or its absence.
private struct Arrival<Answer> {
  let position: Int
  let answer: Answer?
  /// Whether the answer is what `absent:` counts.
  var isSubstitute = false
}

extension Array {
  /// How many have answered themselves.
  fileprivate func answered<Answer>() -> Int where Element == Arrival<Answer> {
    count { $0.answer != nil && !$0.isSubstitute }
  }

  /// The answers in the order of the subscriptions.
  fileprivate func inOrder<Answer>() -> [Answer] where Element == Arrival<Answer> {
    sorted { $0.position < $1.position }.compactMap(\.answer)
  }
}

extension Array {
  /// All orders of the elements.
  fileprivate var permutations: [[Element]] {
    guard let head = first else { return [[]] }
    return Array(dropFirst()).permutations.flatMap { rest in
      (0...rest.count).map { Array(rest[..<$0]) + [head] + Array(rest[$0...]) }
    }
  }
}

/// What the model says of all the ways in which a ballot may still go on.
private enum Verdict<Outcome: Equatable>: Equatable {
  case fixed(Outcome)
  case open

  static func && (left: Verdict, right: Verdict) -> Verdict { left == right ? left : .open }
}

/// Compares a combiner with a model for 0 to 6 voters.
///
/// - Parameters:
///   - combiner: the one to try.
///   - answers: what the voter at a position may answer, beside being missing.
///   - unforeseen: an answer that none of those outdoes, so that the model does not think an
///     extreme fixed only because the search knows just two answers.
///   - substituting: whether the same answers may also come in place of absentees; of 0 to 4 voters
///     then, as there are five ways for each.
///   - sourceLocation: where a failure is shown.
///   - model: the outcome of all arrivals, given in the order in which they came.
private func check<C: Combiner>(
  _ combiner: C, answers: @escaping (Int) -> [C.Response], unforeseen: C.Response? = nil,
  substituting: Bool = false,
  sourceLocation: SourceLocation = #_sourceLocation,
  model: @escaping ([Arrival<C.Response>]) -> C.Outcome
) where C.Outcome: Equatable {
  for count in 0...(substituting ? 4 : 6) {
    let positions = Array(0..<count)
    let evenFirst = positions.filter { $0.isMultiple(of: 2) } + positions.filter { $0 % 2 == 1 }
    let orders =
      count <= 4
      ? positions.permutations : [positions, positions.reversed(), evenFirst, evenFirst.reversed()]
    for order in orders {
      var search = Search<C>(
        order: order, answers: answers, unforeseen: unforeseen, substituting: substituting,
        model: model)
      var started = combiner
      let decision = started.begin(asking: count)
      search.explore(started, decision: decision, after: [])
      let ways = substituting ? 5 : 3
      #expect(search.endings == positions.reduce(1) { product, _ in product * ways })
      #expect(search.complaints.isEmpty, "arriving \(order)", sourceLocation: sourceLocation)
    }
  }
}

/// Walks through all answers for one order of arrival, with the combiner in step.
private struct Search<C: Combiner> where C.Outcome: Equatable {
  let order: [Int]
  let answers: (Int) -> [C.Response]
  let unforeseen: C.Response?
  let substituting: Bool
  let model: ([Arrival<C.Response>]) -> C.Outcome
  var complaints: [String] = []
  var endings = 0

  /// Tries every way to go on, and checks the combiner's decision against what they have in common.
  ///
  /// - Parameters:
  ///   - combiner: as it is after the arrivals.
  ///   - decision: what it has decided by then; it is not called again after that.
  ///   - arrivals: what has come so far.
  /// - Returns: the outcome that is fixed by now.
  @discardableResult
  mutating func explore(
    _ combiner: C, decision: C.Outcome?, after arrivals: [Arrival<C.Response>]
  ) -> Verdict<C.Outcome> {
    guard arrivals.count < order.count else {
      endings += 1
      return conclude(combiner, decision: decision, after: arrivals)
    }
    let position = order[arrivals.count]
    var verdict: Verdict<C.Outcome>?
    for arrival in ways(of: position) {
      var next = combiner
      let nextDecision: C.Outcome? =
        if let decision {
          decision
        } else if let answer = arrival.answer {
          arrival.isSubstitute
            ? next.receive(answer, inPlaceOf: position) : next.receive(answer, from: position)
        } else {
          next.receiveNothing(from: position)
        }
      let branch = explore(next, decision: nextDecision, after: arrivals + [arrival])
      verdict = verdict.map { $0 && branch } ?? branch
    }
    if let unforeseen {
      let rest = order[arrivals.count...].map { Arrival(position: $0, answer: unforeseen) }
      verdict = verdict.map { $0 && .fixed(model(arrivals + rest)) }
    }
    compare(decision, with: verdict ?? .open, after: arrivals)
    return verdict ?? .open
  }

  /// What may come of the voter at a position.
  private func ways(of position: Int) -> [Arrival<C.Response>] {
    let answers = answers(position)
    return answers.map { Arrival(position: position, answer: $0) }
      + [Arrival(position: position, answer: nil)]
      + (substituting ? answers : []).map {
        Arrival(position: position, answer: $0, isSubstitute: true)
      }
  }

  /// Checks the outcome when all have come; with nobody asked, `begin` must have given it.
  private mutating func conclude(
    _ combiner: C, decision: C.Outcome?, after arrivals: [Arrival<C.Response>]
  ) -> Verdict<C.Outcome> {
    let verdict = Verdict.fixed(model(arrivals))
    var last = combiner
    let outcome = order.isEmpty ? decision : decision ?? last.finish()
    compare(outcome, with: verdict, after: arrivals)
    return verdict
  }

  private mutating func compare(
    _ decision: C.Outcome?, with verdict: Verdict<C.Outcome>, after arrivals: [Arrival<C.Response>]
  ) {
    let decided = decision.map(Verdict.fixed) ?? .open
    guard decided != verdict else { return }
    complaints.append("after \(arrivals): it is \(verdict), the combiner says \(decided)")
  }
}
