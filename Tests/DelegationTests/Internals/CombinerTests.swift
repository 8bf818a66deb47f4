import Testing

@testable import Delegation

/// Every rule against a plain model: all answers, all absences, many orders of arrival.
@Suite("Guarantee 9: rules decide right, and neither late nor early", .inTurn(.heavy))
struct CombinerTests {
  @Test("of yes and no")
  func votes() {
    let votes = { (_: Int) in [true, false] }
    check(.unanimous, votes) { !$0.inOrder().contains(false) }
    check(.anyone, votes) { $0.inOrder().contains(true) }
    check(.nobody, votes) { !$0.inOrder().contains(true) }
    check(.majority, votes) { arrivals in
      let yes = arrivals.inOrder().count { $0 }
      return yes > arrivals.inOrder().count - yes
    }
    for quorum in 0...7 { check(.atLeast(quorum), votes) { $0.inOrder().count { $0 } >= quorum } }
  }

  @Test("of yes and no that need a number of answers", arguments: 0...5)
  func quorums(quorum: Int) {
    let votes = { (_: Int) in [true, false] }
    check(.unanimous(ofAtLeast: quorum), votes, substituting: true) {
      $0.answered >= quorum && !$0.inOrder().contains(false)
    }
    check(.nobody(ofAtLeast: quorum), votes, substituting: true) {
      $0.answered >= quorum && !$0.inOrder().contains(true)
    }
  }

  @Test("of values: the first to come, or all in the order of the subscriptions")
  func values() {
    let numbers = { (position: Int) in [2 * position + 1, 2 * position + 2] }
    check(.firstNonNil(), { position in [nil, position] }) {
      $0.lazy.compactMap { $0.answer ?? nil }.first
    }
    check(.first(), numbers) { $0.lazy.compactMap(\.answer).first }
    check(.all(), numbers) { $0.inOrder() }
    check(.sum(), numbers) { $0.inOrder().reduce(0, +) }
    check(.reduce("") { @Sendable in "\($0)(\($1))" }, numbers) { arrivals in
      arrivals.inOrder().map { "(\($0))" }.joined()
    }
  }

  @Test("the least and the greatest; of equals, the first in the order of the subscriptions")
  func extremes() {
    let ranked = { (position: Int) in
      [Ranked(rank: 1, owner: position), Ranked(rank: 2, owner: position)]
    }
    check(.min(), ranked, unforeseen: Ranked(rank: 0, owner: -1)) { arrivals in
      arrivals.inOrder().first { $0.rank == arrivals.inOrder().map(\.rank).min() }
    }
    check(.max(), ranked, unforeseen: Ranked(rank: 9, owner: -1)) { arrivals in
      arrivals.inOrder().first { $0.rank == arrivals.inOrder().map(\.rank).max() }
    }
  }

  @Test("a sum of fractions is the same in every order of arrival, and keeps only what came early")
  func reductions() {
    let numbers = [1e16, 1, -1e16, 1, 0.1, 0.2]
    var dice = Dice(seed: 42)
    for _ in 0..<200 {
      var sum = Reduction<Double, Double>.sum()
      _ = sum.begin(asking: numbers.count)
      for position in numbers.indices.shuffled(using: &dice) {
        _ = sum.receive(numbers[position], from: position)
      }
      #expect(sum.finish() == numbers.reduce(0, +))
    }
    let lifetimes = Lifetimes()
    var count = Reduction<Lifetimes.Tracked, Int>(0) { count, _ in count + 1 }
    _ = count.begin(asking: 4)
    let alive = [0, 3, 2, 1].map { position in
      if position == 2 || position == 1 {
        _ = count.receiveNothing(from: position)
      } else {
        _ = count.receive(lifetimes.make(), from: position)
      }
      return lifetimes.alive
    }
    #expect(alive == [0, 1, 1, 0] && count.finish() == 2)
  }

  @Test("a quorum that cannot be met is false at once; one below 0 stops the program")
  func badQuorums() async {
    for rule in [BooleanRule.atLeast(.max), .unanimous(ofAtLeast: .max), .nobody(ofAtLeast: 4)] {
      var rule = rule
      let outcome = rule.begin(asking: 3)
      #expect(outcome == false)
    }
    let tooFew = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = BooleanRule.atLeast(-3)
    }
    #expect(said(tooFew, "The quorum of .atLeast(-3) is below 0. Pass how many subscribers"))
    let noAnswers = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = BooleanRule.unanimous(ofAtLeast: -2)
    }
    #expect(said(noAnswers, "(ofAtLeast: -2) asks for less than 0 answers. Pass how many"))
  }

  @Test("a tally calls its rule as it should, until that decides", arguments: 0...3)
  func tally(asking count: Int) {
    for order in Array(0..<count).permutations {
      for kinds in words(of: Kind.allCases, length: count) {
        // The call of the rule that decides: 0 is `begin`; beyond the last one, none does.
        for decisive in 0...(count + 1) {
          for answered in 0...count {
            let events = Array(zip(order, kinds).map { (position: $0, kind: $1) })
            let found = run(events, before: answered, decisive)
            let expected = model(events, before: answered, decisive)
            #expect(found == expected, "\(events), \(answered) in time, decided at \(decisive)")
          }
        }
      }
    }
  }

  private enum Kind: CaseIterable {
    case response, substitute, absence, failure
  }

  private struct Mishap: Error { let position: Int }

  /// Records its calls, and decides at one of them.
  private struct Scripted: Combiner {
    let calls: Recorder<String>
    let decisive: Int

    private func call(_ text: String) -> String? {
      calls.record(text)
      return calls.count == decisive + 1 ? "decided" : nil
    }

    mutating func begin(asking count: Int) -> String? { call("begin \(count)") }
    mutating func receive(_ response: String, from position: Int) -> String? {
      call("\(response) from \(position)")
    }
    mutating func receiveNothing(from position: Int) -> String? { call("nothing from \(position)") }
    mutating func finish() -> String {
      calls.record("finish")
      return "finished"
    }
  }

  /// The rule's calls and the outcome, if some answer in time and the others are counted at a deadline, in order.
  private func run(
    _ events: [(position: Int, kind: Kind)], before answered: Int, _ decisive: Int
  ) -> [String] {
    let calls = Recorder<String>()
    var tally = Tally<Scripted, Mishap>(
      asking: events.count, combiner: Scripted(calls: calls, decisive: decisive), hasDeadline: true)
    func answer(_ event: (position: Int, kind: Kind)) -> Answer<String, Mishap> {
      switch event.kind {
      case .response: .response("yes")
      case .substitute: .substitute("yes")
      case .absence: .absence
      case .failure: .failure(Mishap(position: event.position))
      }
    }
    var decision = tally.begin()
    var looks: [Int] = []
    for event in events.prefix(answered) where decision == nil {
      decision = tally.count(answer(event), from: event.position)
    }
    let isComplete = tally.outstanding == 0
    if decision == nil {
      decision = tally.expire { position in
        looks.append(position)
        return answer(events.first { $0.position == position }!)
      }
    }
    _ = tally.clear()
    let outcome =
      switch decision {
      case .success(let outcome): outcome
      case .failure(let mishap): "failed at \(mishap.position)"
      case nil: "open"
      }
    // All that are late are looked at before one is counted; who is late still runs.
    return calls.history + [outcome, "\(looks)", "\(isComplete) \(tally.outstanding == 0)"]
  }

  private func model(
    _ events: [(position: Int, kind: Kind)], before answered: Int, _ decisive: Int
  ) -> [String] {
    var (calls, outcome, counted) = (["begin \(events.count)"], decisive == 0 ? "decided" : nil, 0)
    func count(_ event: (position: Int, kind: Kind)) {
      counted += 1
      if event.kind == .failure { return outcome = "failed at \(event.position)" }
      calls.append("\(event.kind == .absence ? "nothing" : "yes") from \(event.position)")
      if calls.count == decisive + 1 { outcome = "decided" }
    }
    for event in events.prefix(answered) where outcome == nil { count(event) }
    let isComplete = counted == events.count
    var late = events.dropFirst(answered).sorted { $0.position < $1.position }
    if outcome == nil, isComplete { (calls, outcome) = (calls + ["finish"], "finished") }
    if outcome != nil { late = [] }
    for event in late where outcome == nil { count(event) }
    if outcome == nil { (calls, outcome) = (calls + ["finish"], "finished") }
    return calls + [outcome!, "\(late.map(\.position))", "\(isComplete) \(isComplete)"]
  }
}

// MARK: - The search

/// Ranks alike for any owner, yet equal only if of one owner: ties can be told apart.
private struct Ranked: Comparable, Sendable {
  let rank: Int
  let owner: Int

  static func < (left: Ranked, right: Ranked) -> Bool { left.rank < right.rank }
}

/// A subscriber's answer, or its absence.
private struct Arrival<Response> {
  let position: Int
  let answer: Response?
  /// Whether the answer is what `absent:` counts.
  var isSubstitute = false
}

extension Array {
  /// How many have answered themselves.
  fileprivate var answered: Int {
    count { ($0 as? Arrival<Bool>).map { $0.answer != nil && !$0.isSubstitute } ?? false }
  }

  /// The answers in the order of the subscriptions.
  fileprivate func inOrder<Response>() -> [Response] where Element == Arrival<Response> {
    sorted { $0.position < $1.position }.compactMap(\.answer)
  }

  fileprivate var permutations: [[Element]] {
    guard let head = first else { return [[]] }
    return Array(dropFirst()).permutations.flatMap { rest in
      (0...rest.count).map { Array(rest[..<$0]) + [head] + Array(rest[$0...]) }
    }
  }
}

/// What the model says of all the ways in which a question may still go on.
private enum Verdict<Outcome: Equatable>: Equatable {
  case fixed(Outcome)
  case open

  static func && (left: Verdict, right: Verdict) -> Verdict { left == right ? left : .open }
}

// Compares a rule with a model for 0 to 5 voters, or 0 to 4 if answers may also come in place of absentees
// (`substituting`). An answer that none of those outdoes is `unforeseen`, so that the model does not think an extreme
// fixed only because the search knows just two answers. The model gets the arrivals in the order in which they came.
private func check<C: Combiner>(
  _ combiner: C, _ answers: @escaping (Int) -> [C.Response], unforeseen: C.Response? = nil,
  substituting: Bool = false, at location: SourceLocation = #_sourceLocation,
  model: @escaping ([Arrival<C.Response>]) -> C.Outcome
) where C.Outcome: Equatable {
  for count in 0...(substituting ? 4 : 5) {
    let positions = Array(0..<count)
    let evenFirst = positions.filter { $0.isMultiple(of: 2) } + positions.filter { $0 % 2 == 1 }
    let orders =
      count <= 4
      ? positions.permutations : [positions, positions.reversed(), evenFirst, evenFirst.reversed()]
    for order in orders {
      var search = Search<C>(
        order: order, answers: answers, unforeseen: unforeseen, substituting: substituting,
        model: model)
      let tally = Tally<C, Never>(asking: count, combiner: combiner)
      search.explore(tally, decision: nil, after: [])
      #expect(search.complaint == nil, "arriving \(order)", sourceLocation: location)
    }
  }
}

/// Walks through all answers for one order of arrival, with the rule in step.
private struct Search<C: Combiner> where C.Outcome: Equatable {
  let order: [Int]
  let answers: (Int) -> [C.Response]
  let unforeseen: C.Response?
  let substituting: Bool
  let model: ([Arrival<C.Response>]) -> C.Outcome
  var complaint: String?

  /// Tries every way to go on after some arrivals, and checks the rule's decision against what these have in common.
  @discardableResult
  mutating func explore(
    _ tally: Tally<C, Never>, decision: C.Outcome?, after arrivals: [Arrival<C.Response>]
  ) -> Verdict<C.Outcome> {
    var (tally, decision) = (tally, decision)
    if arrivals.isEmpty { decision = tally.begin()?.get() }
    guard arrivals.count < order.count else {
      let verdict = Verdict.fixed(model(arrivals))
      compare(decision, with: verdict, after: arrivals)
      return verdict
    }
    let position = order[arrivals.count]
    var verdict: Verdict<C.Outcome>?
    for (arrival, answer) in ways(of: position) {
      var next = tally
      let nextDecision = decision ?? next.count(answer, from: position)?.get()
      let branch = explore(next, decision: nextDecision, after: arrivals + [arrival])
      verdict = verdict.map { $0 && branch } ?? branch
    }
    if let unforeseen {
      let rest = order[arrivals.count...].map { Arrival(position: $0, answer: unforeseen) }
      verdict = verdict.map { $0 && .fixed(model(arrivals + rest)) }
    }
    // The last one decides in any case.
    if arrivals.count < order.count { compare(decision, with: verdict ?? .open, after: arrivals) }
    return verdict ?? .open
  }

  private func ways(of position: Int) -> [(Arrival<C.Response>, Answer<C.Response, Never>)] {
    let answers = answers(position)
    return answers.map { (Arrival(position: position, answer: $0), .response($0)) }
      + [(Arrival(position: position, answer: nil), .absence)]
      + (substituting ? answers : []).map {
        (Arrival(position: position, answer: $0, isSubstitute: true), .substitute($0))
      }
  }

  private mutating func compare(
    _ decision: C.Outcome?, with verdict: Verdict<C.Outcome>, after arrivals: [Arrival<C.Response>]
  ) {
    let decided = decision.map(Verdict.fixed) ?? .open
    guard decided != verdict else { return }
    complaint = "after \(arrivals): it is \(verdict), the rule says \(decided)"
  }
}
