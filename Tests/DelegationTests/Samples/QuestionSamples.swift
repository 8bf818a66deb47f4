import Delegation
import Testing

@Suite("Samples of the forms of a question", .inTurn)
struct QuestionSamples {
  private protocol DoorDelegate: AnyObject, Sendable {
    func mayEnter(_ guest: String) -> Bool
    func mayStay(_ guest: String) async -> Bool
  }

  @MainActor
  private protocol WindowDelegate: AnyObject, Sendable {
    func mayClose() -> Bool
  }

  private final class Doorman: DoorDelegate {
    func mayEnter(_ guest: String) -> Bool { guest != "Mallory" }
    func mayStay(_ guest: String) async -> Bool { guest == "Alice" }
  }

  private final class Document: WindowDelegate {
    nonisolated init() {}
    func mayClose() -> Bool { false }
  }

  private let hub = DelegateHub()

  @Test("three forms of one call", arguments: ["Alice", "Bob"])
  func forms(guest: String) async {
    let (doorman, document) = (Doorman(), Document())
    hub.subscribe(doorman, to: DoorDelegate.self, hold: .strongly)
    hub.subscribe(document, to: WindowDelegate.self, hold: .strongly)
    // sample: Forms of a question
    // It awaits nothing: in your task, one subscriber after another.
    let mayEnter = await hub[DoorDelegate.self].vote { $0.mayEnter(guest) }

    // It awaits: side by side, in tasks.
    let mayStay = await hub[DoorDelegate.self].vote { await $0.mayStay(guest) }

    // On the main actor.
    let mayClose = await hub[WindowDelegate.self].vote { @MainActor in $0.mayClose() }
    // end of sample
    #expect([mayEnter, mayStay, mayClose] == [true, guest == "Alice", false])
  }
}
