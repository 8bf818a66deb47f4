import Testing

@testable import Delegation

@Suite("Storm: questions of every kind, against a model", .inTurn(.heavy))
struct QuestionModelTests {
  @Test(
    "each one is asked once, the outcome follows from the answers, and nothing hangs or is left",
    arguments: [Effort.firstSeed])
  func model(seed: UInt64) async {
    let quiz = Quiz()
    await quiz.run(seed: seed &* 1_000, worlds: Effort.count(30, atLeast: 6), questions: 250)
    #expect(quiz.problems == [])
    // A model in which nothing of the kind happened would prove nothing.
    for kind in ["inPlace", "within", "cancelled callers", "early", "at the deadline", "nested"] {
      #expect(quiz.tally[kind, default: 0] > 0, "\(kind)")
    }
  }
}
