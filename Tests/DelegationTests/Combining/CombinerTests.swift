import Testing

@testable import Delegation

/// What the ready-made combiners say in the cases that their documentation names.
@Suite("Ready-made combiners", .inTurn)
struct CombinerTests {
  @Test("with nobody to ask, begin gives the documented outcome")
  func nobodyToAsk() {
    #expect(outcomeOfNobody(.unanimous) == true)
    #expect(outcomeOfNobody(.nobody) == true)
    #expect(outcomeOfNobody(.anyone) == false)
    #expect(outcomeOfNobody(.majority) == false)
    #expect(outcomeOfNobody(.atLeast(0)) == true)
    #expect(outcomeOfNobody(.atLeast(1)) == false)
    #expect(outcomeOfNobody(.unanimous(ofAtLeast: 0)) == true)
    #expect(outcomeOfNobody(.unanimous(ofAtLeast: 1)) == false)
    #expect(outcomeOfNobody(.nobody(ofAtLeast: 0)) == true)
    #expect(outcomeOfNobody(.nobody(ofAtLeast: 1)) == false)
    #expect(outcomeOfNobody(First<Int?, Int>.firstNonNil()) == .some(nil))
    #expect(outcomeOfNobody(First<Int, Int>.first()) == .some(nil))
    #expect(outcomeOfNobody(Reduction<Int, [Int]>.all()) == [])
    #expect(outcomeOfNobody(Reduction<Int, Int>.sum()) == 0)
    #expect(outcomeOfNobody(Extreme<Int>.min()) == .some(nil))
    #expect(outcomeOfNobody(Extreme<Int>.max()) == .some(nil))
    #expect(outcomeOfNobody(Reduction<Int, Int>(5) { $0 + $1 }) == 5)
  }

  @Test("if all are missing, the outcome is that of nobody to ask")
  func allMissing() {
    #expect(outcome(of: [nil, nil], .unanimous))
    #expect(outcome(of: [nil, nil], .nobody))
    #expect(!outcome(of: [nil, nil], .anyone))
    #expect(!outcome(of: [nil, nil], .majority))
    #expect(!outcome(of: [nil, nil], .atLeast(1)))
    #expect(!outcome(of: [nil, nil], .unanimous(ofAtLeast: 1)))
    #expect(!outcome(of: [nil, nil], .nobody(ofAtLeast: 1)))
    #expect(outcome(of: [nil, nil], First<Int?, Int>.firstNonNil()) == nil)
    #expect(outcome(of: [nil, nil], First<Int, Int>.first()) == nil)
    #expect(outcome(of: [nil, nil], Reduction<Int, [Int]>.all()) == [])
    #expect(outcome(of: [nil, nil], Reduction<Int, Int>.sum()) == 0)
    #expect(outcome(of: [nil, nil], Extreme<Int>.min()) == nil)
    #expect(outcome(of: [nil, nil], Extreme<Int>.max()) == nil)
    #expect(outcome(of: [nil, nil], Reduction<Int, Int>(5) { $0 + $1 }) == 5)
  }

  @Test("the short forms infer the response, the outcome, or both")
  func shortForms() {
    let first = outcome(of: [nil, 7, 8], .first())
    let all = outcome(of: ["a", nil, "b"], .all())
    let sum = outcome(of: [1, 2, 3], .sum())
    let min = outcome(of: [3, 1, 2], .min())
    let max = outcome(of: [2, 3, 1], .max())
    let nonNil = outcome(of: [nil, .some(nil), "c"], .firstNonNil())
    let reduced = outcome(of: ["a", "bc"], .reduce(0) { @Sendable in $0 + $1.count })
    let reducedByOperator = outcome(of: [1, 2], .reduce(0, +))
    let reducedByInitializer = outcome(of: ["a", "bc"], Reduction(0) { $0 + $1.count })
    #expect(first == 7)
    #expect(all == ["a", "b"])
    #expect(sum == 6)
    #expect(min == 1)
    #expect(max == 3)
    #expect(nonNil == "c")
    #expect(reduced == 3)
    #expect(reducedByOperator == 3)
    #expect(reducedByInitializer == 3)
  }

  @Test("the documented reduction finds the longest")
  func documentedReduction() {
    let longest = Reduction<String, Int>(0) { max($0, $1.count) }
    #expect(outcome(of: ["a", "abc", "ab"], longest) == 3)
  }

  @Test("an optional response counts as an answer even if nil")
  func optionalResponses() {
    let answers: [Int??] = [nil, .some(nil), 5]
    #expect(outcome(of: answers, First<Int?, Int?>.first()) == .some(nil))
    #expect(outcome(of: answers, Reduction<Int?, [Int?]>.all()) == [nil, 5])
    #expect(outcome(of: answers.reversed(), Reduction<Int?, [Int?]>.all()) == [5, nil])
  }

  @Test("a floating-point sum is the same in every order of arrival")
  func floatingPointSum() {
    let numbers = [1e16, 1, -1e16, 1, 0.1, 0.2]
    let expected = numbers.reduce(0, +)
    var orders = SeededGenerator(state: 42)
    for _ in 0..<200 {
      let order = numbers.indices.shuffled(using: &orders)
      #expect(outcome(of: numbers, arriving: order, .sum()) == expected, "arriving \(order)")
    }
  }

  @Test("a thousand responses in any order are listed in the order of the subscriptions")
  func manyResponses() {
    let answers = (0..<1_000).map { $0.isMultiple(of: 7) ? nil : $0 }
    var orders = SeededGenerator(state: 7)
    for order in [Array(0..<1_000), (0..<1_000).reversed(), (0..<1_000).shuffled(using: &orders)] {
      #expect(outcome(of: answers, arriving: order, .all()) == answers.compactMap(\.self))
    }
  }

  @Test("a reduction keeps only what came before its turn")
  func reductionKeepsLittle() {
    var combiner = Reduction<Token, Int>(0) { count, _ in count + 1 }
    #expect(combiner.begin(asking: 4) == nil)

    let inTurn = Watched(givenTo: &combiner, at: 0)
    #expect(inTurn.token == nil)
    let early = Watched(givenTo: &combiner, at: 3)
    #expect(early.token != nil)
    #expect(combiner.receiveNothing(from: 2) == nil)
    #expect(early.token != nil)
    #expect(combiner.receiveNothing(from: 1) == nil)
    #expect(early.token == nil)
    #expect(combiner.finish() == 2)
  }

  @Test("a quorum that nobody can fill is refused before anybody is asked")
  func quorumOutOfReach() {
    var combiner = BooleanRule.atLeast(.max)
    #expect(combiner.begin(asking: 1_000) == false)
  }

  @Test("a quorum below 0 stops the program and says why")
  func negativeQuorum() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = BooleanRule.atLeast(-3)
    }
    let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(message.contains("The quorum of .atLeast(-3) is below 0. Pass how many subscribers"))
  }

  @Test("a vote of at least fewer than 0 stops the program and says what to write")
  func negativeNumberOfAnswers() async {
    let unanimous = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = outcome(of: [true], .unanimous(ofAtLeast: -2))
    }
    #expect(said(unanimous, "(ofAtLeast: -2) asks for less than 0 answers. Pass how many"))
    let nobody = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = outcome(of: [true], .nobody(ofAtLeast: -1))
    }
    #expect(said(nobody, "(ofAtLeast: -1) asks for less than 0 answers. Pass how many"))
  }

  @Test("a number of answers that nobody can give is refused before anybody is asked")
  func answersOutOfReach() {
    var combiner = BooleanRule.unanimous(ofAtLeast: .max)
    #expect(combiner.begin(asking: 1_000) == false)
  }

  @Test("false comes as soon as what counts in place of answers leaves too few to answer")
  func answersNoLongerWithinReach() {
    var ballot = Ballot<BooleanRule, Never>(asking: 3, combiner: .unanimous(ofAtLeast: 2))
    #expect(ballot.begin() == nil)
    #expect(ballot.count(.substitute(true), from: 0) == nil)
    #expect(ballot.count(.substitute(true), from: 1) == .success(false))
  }

  @Test("the short form refuses a quorum below 0 too")
  func negativeQuorumInShort() async {
    await #expect(processExitsWith: .failure) {
      _ = outcome(of: [true], .atLeast(-1))
    }
  }
}

/// An answer whose lifetime can be watched.
private final class Token: Sendable {}

/// Watches a token that nobody but a combiner may keep alive.
private struct Watched {
  private(set) weak var token: Token?

  init(givenTo combiner: inout Reduction<Token, Int>, at position: Int) {
    let token = Token()
    _ = combiner.receive(token, from: position)
    self.token = token
  }
}

/// Repeats the same orders in each run.
private struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ (state >> 29)
  }
}

/// What a combiner decides before anybody is asked.
private func outcomeOfNobody<C: Combiner>(_ combiner: C) -> C.Outcome? {
  var combiner = combiner
  return combiner.begin(asking: 0)
}

/// The outcome of answers (`nil`: missing) that come in the given order of positions.
private func outcome<C: Combiner>(
  of answers: [C.Response?], arriving order: [Int]? = nil, _ combiner: C
) -> C.Outcome {
  var combiner = combiner
  if let outcome = combiner.begin(asking: answers.count) { return outcome }
  for position in order ?? Array(answers.indices) {
    let decision =
      if let answer = answers[position] {
        combiner.receive(answer, from: position)
      } else {
        combiner.receiveNothing(from: position)
      }
    if let decision { return decision }
  }
  return combiner.finish()
}
