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

  @Test("who is kept by somebody is called")
  func keep() async {
    let server = Server()
    #expect(server.hub[ServerDelegate.self].count == 2)
    server.hub[ServerDelegate.self].notify { $0.didOpen(1) }
    await server.hub.drain()
    #expect(Metrics.opened.history == [1])
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
