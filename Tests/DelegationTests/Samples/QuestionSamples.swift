import Delegation
import Testing

@Suite("Samples of the forms of a question", .inTurn)
struct QuestionSamples {
  private protocol DoorDelegate: AnyObject, Sendable {
    func mayEnter(_ guest: String) -> Bool
    func mayStay(_ guest: String) async -> Bool
  }

  private protocol Node: AnyObject, Sendable {
    var load: Int { get }
  }

  @MainActor
  private protocol WindowDelegate: AnyObject, Sendable {
    func mayClose() -> Bool
  }

  private final class Doorman: DoorDelegate, Node {
    let load: Int

    init(load: Int = 0) { self.load = load }

    func mayEnter(_ guest: String) -> Bool { guest != "Mallory" }
    func mayStay(_ guest: String) async -> Bool { guest == "Alice" }
  }

  private final class Document: WindowDelegate {
    var isSaved = false
    nonisolated init() {}
    func mayClose() -> Bool { isSaved }
    func save() { isSaved = true }
  }

  private let hub = DelegateHub()

  @Test("who stands at the door says at once who may enter", arguments: ["Alice", "Mallory"])
  func vote(guest: String) async {
    let doormen = [Doorman(), Doorman()]
    for doorman in doormen { hub.subscribe(doorman, to: DoorDelegate.self) }
    let opened = Recorder<String>()
    func open() { opened.record(guest) }
    // sample: vote that awaits nothing
    if await hub[DoorDelegate.self].vote({ $0.mayEnter(guest) }) { open() }
    // end of sample
    #expect(opened.history == (guest == "Alice" ? ["Alice"] : []))
    withExtendedLifetime(doormen) {}
  }

  @Test("a window closes when its documents are saved")
  func mainActor() async {
    let documents = [Document(), Document()]
    for document in documents { hub.subscribe(document, to: WindowDelegate.self) }
    let closed = Recorder<String>()
    func close() { closed.record("closed") }
    for document in documents {
      #expect(closed.history == [])
      await document.save()
      // sample: vote on the main actor
      if await hub[WindowDelegate.self].vote({ @MainActor in $0.mayClose() }) { close() }
      // end of sample
    }
    #expect(closed.history == ["closed"])
  }

  @Test("loads are added up in place")
  func ask() async {
    let nodes = [Doorman(load: 1), Doorman(load: 2)]
    for node in nodes { hub.subscribe(node, to: Node.self) }
    // sample: ask that awaits nothing
    let load = await hub[Node.self].ask(combining: .sum()) { $0.load }
    // end of sample
    #expect(load == 3)
    withExtendedLifetime(nodes) {}
  }

  @Test("three forms of one call", arguments: ["Alice", "Bob"])
  func forms(guest: String) async {
    let (doorman, document) = (Doorman(), Document())
    hub.subscribe(doorman, to: DoorDelegate.self)
    hub.subscribe(document, to: WindowDelegate.self)
    // sample: Forms of a question
    // It awaits nothing: in your task, one subscriber after another.
    let mayEnter = await hub[DoorDelegate.self].vote { $0.mayEnter(guest) }

    // It awaits: side by side, in tasks.
    let mayStay = await hub[DoorDelegate.self].vote { await $0.mayStay(guest) }

    // On the main actor.
    let mayClose = await hub[WindowDelegate.self].vote { @MainActor in $0.mayClose() }
    // end of sample
    #expect([mayEnter, mayStay, mayClose] == [true, guest == "Alice", false])
    withExtendedLifetime((doorman, document)) {}
  }
}
