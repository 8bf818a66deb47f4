import Delegation
import Testing

@Suite("Samples of votes and combiners", .inTurn)
struct VoteSamples {
  private let hub = DelegateHub()

  private protocol DoorDelegate: AnyObject, Sendable {
    func mayEnter(_ guest: String) async -> Bool
  }

  private final class Doorman: DoorDelegate {
    func mayEnter(_ guest: String) async -> Bool { guest != "Mallory" }
  }

  @Test("nobody says no", arguments: ["Alice", "Mallory"])
  func vote(guest: String) async {
    let (doorman, opened) = (Doorman(), Recorder<String>())
    func open() { opened.record(guest) }
    hub.subscribe(doorman, to: DoorDelegate.self)
    // sample: vote
    if await hub[DoorDelegate.self].vote({ await $0.mayEnter(guest) }) { open() }
    // end of sample
    #expect(opened.history == (guest == "Alice" ? ["Alice"] : []))
    withExtendedLifetime(doorman) {}
  }

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
