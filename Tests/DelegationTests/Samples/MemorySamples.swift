import Delegation
import Testing

@Suite("Samples of memory and lifetime", .inTurn)
struct MemorySamples {
  protocol ServerDelegate: AnyObject, Sendable {
    func didOpen(_ connection: Int)
  }

  final class Audit: ServerDelegate {
    let opened = Recorder<Int>()
    func didOpen(_ connection: Int) { opened.record(connection) }
  }

  final class Metrics: ServerDelegate {
    static let opened = Recorder<Int>()
    func didOpen(_ connection: Int) { Self.opened.record(connection) }
  }

  // sample: Who keeps whom
  final class Server: Sendable {
    let hub = DelegateHub()
    private let audit = Audit()

    init() {
      // Kept by the server.
      hub.subscribe(audit, to: ServerDelegate.self)
      // Kept by the hub.
      hub.subscribe(Metrics(), to: ServerDelegate.self, hold: .strongly)
      // Kept by nobody: gone at once, which `onIncident` hears as *unheard*.
      hub.subscribe(Audit(), to: ServerDelegate.self)
    }
  }
  // end of sample

  @Test("who is kept by somebody is called")
  func keep() async {
    let server = Server()
    #expect(server.hub[ServerDelegate.self].count == 2)
    server.hub[ServerDelegate.self].notify { $0.didOpen(1) }
    await server.hub.drain()
    #expect(Metrics.opened.history == [1])
  }

  @Test("a subscription ends with its subscriber")
  func death() async {
    let hub = DelegateHub()
    var audit: Audit? = Audit()
    if let audit { hub.subscribe(audit, to: ServerDelegate.self) }
    #expect(hub[ServerDelegate.self].count == 1)

    audit = nil  // nothing to unsubscribe
    #expect(hub[ServerDelegate.self].count == 0)
    _ = audit
  }

  protocol DoorDelegate: AnyObject, Sendable {
    func mayEnter(_ guest: String) async -> Bool
  }

  final class Doorman: DoorDelegate {
    func mayEnter(_ guest: String) async -> Bool { false }
  }

  @Test("what only a local array keeps is kept by withExtendedLifetime, whatever the build")
  func local() async {
    let hub = DelegateHub()
    let doormen = [Doorman(), Doorman()]
    defer { withExtendedLifetime(doormen) {} }  // kept until the end of the scope
    for doorman in doormen { hub.subscribe(doorman, to: DoorDelegate.self) }
    let isAdmitted = await hub[DoorDelegate.self].vote { await $0.mayEnter("Mallory") }
    #expect(!isAdmitted)
  }

  @Test("without it the optimizer decides: all are asked, or nobody")
  func unkept() async {
    let incidents = Recorder<String>()
    let hub = DelegateHub(
      DelegateHub.Configuration(onIncident: { incidents.record("\($0.kind)") }))
    let doormen = [Doorman(), Doorman()]
    for doorman in doormen { hub.subscribe(doorman, to: DoorDelegate.self) }
    // A release build may release both here: `doormen` is not used again, and the vote asks nobody.
    let isAdmitted = await hub[DoorDelegate.self].vote { await $0.mayEnter("Mallory") }
    await hub.drain()
    #expect(incidents.history.contains("unheard") == isAdmitted)
  }

  @Test("after cancelAndWait nothing of a subscriber's runs")
  func cancelAndWait() async {
    let hub = DelegateHub()
    let audit = Audit()
    let gate = Gate()
    let file = Recorder<String>()
    let subscription = hub.subscribe(audit, to: ServerDelegate.self)
    hub[ServerDelegate.self].notify { _ in
      await gate.pass()
      file.record("written")
    }
    await gate.arrivals()
    gate.open()
    // sample: cancelAndWait
    await subscription.cancelAndWait()
    file.close()  // no handler of this subscription runs, and none will
    // end of sample
    #expect(file.history == ["written", "closed"])
  }
}

extension Recorder where Event == String {
  fileprivate func close() { record("closed") }
}
