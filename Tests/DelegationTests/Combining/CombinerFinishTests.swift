import Testing

@testable import Delegation

@Suite("Combiners: the outcome so far", .inTurn)
struct CombinerFinishTests {
  /// A rule that has heard some answers, the last of which need not have decided.
  private func outcome(_ rule: some Combiner<Bool, Bool>, after answers: [Bool]) -> Bool {
    var rule = rule
    _ = rule.begin(asking: answers.count + 5)
    for (position, answer) in answers.enumerated() { _ = rule.receive(answer, from: position) }
    return rule.finish()
  }

  @Test("a rule that is finished early goes by those it has heard", arguments: 0...4)
  func finishedEarly(heard: Int) {
    for answers in words(of: [false, true], length: heard) {
      let yes = answers.count { $0 }
      #expect(outcome(.majority, after: answers) == (yes * 2 > heard))
      for quorum in 0...5 {
        #expect(outcome(.atLeast(quorum), after: answers) == (yes >= quorum))
      }
    }
  }
}
