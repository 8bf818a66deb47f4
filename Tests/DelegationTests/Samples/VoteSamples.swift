import Delegation
import Testing

@Suite("Samples of votes and combiners", .inTurn)
struct VoteSamples {
  private let hub = DelegateHub()

  private protocol Rule: AnyObject, Sendable {
    func objection(to order: String) async -> String?
  }

  private final class Taste: Rule {
    func objection(to order: String) async -> String? {
      order == "ketchup" ? "a matter of taste" : nil
    }
  }

  @Test("a veto says why", arguments: ["bread", "ketchup"])
  func veto(order: String) async {
    let (taste, log) = (Taste(), Recorder<String>())
    let print = { (text: String) in log.record(text) }
    hub.subscribe(taste, to: Rule.self)
    // sample: A veto with its reason
    let objection = await hub[Rule.self].ask(combining: .firstNonNil()) {
      await $0.objection(to: order)
    }
    if let objection { print("refused: \(objection)") }
    // end of sample
    #expect(log.history == (order == "bread" ? [] : ["refused: a matter of taste"]))
  }
}
