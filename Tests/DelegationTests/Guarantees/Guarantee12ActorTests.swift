import Testing

@testable import Delegation

@Suite("Guarantee 12: code of the user's own on the hub's actor", .inTurn)
struct Guarantee12ActorTests {
  /// For what blocks: it is taken from no other test.
  private static let pool = ThreadPool(threads: 1)

  @Test("as long as it blocks, every call returns, all is delivered, and the hub comes to rest")
  func blocking() async {
    let hub = DelegateHub()
    let probes = Probe.many(3)
    let blockade = Blockade()
    for probe in probes.dropLast() { hub.subscribe(probe, to: Listener.self) }
    let occupant = Task(executorPreference: Self.pool) { await hub.occupy(until: blockade) }
    await blockade.entry()
    // The list has changed since the last call, and again below.
    hub.subscribe(probes[2], to: Listener.self, priority: 1)
    hub[Listener.self].notify() { $0.log.record(1) }
    #expect(await hub[Listener.self].notifyAndWait() { $0.log.record(2) }.isEmpty)
    #expect(await hub[Listener.self].ask(combining: .all()) { $0.name } == ["2", "0", "1"])
    #expect(await hub[Listener.self].vote() { await $0.isThere() })
    #expect(await hub[Listener.self].collect(within: .seconds(60)) { $0.name }.count == 3)
    #expect(await hub[Listener.self].askInTurn() { $0.name } == "2")
    hub.unsubscribe(probes[2])
    #expect(await hub[Listener.self].pass("") { $1 + $0.name } == "01")
    #expect(hub[Listener.self].subscribers.map(\.name) == ["0", "1"])
    #expect(hub[Listener.self].count == 2)
    #expect(await hub.statistics().protocols.map(\.subscribers.count) == [2])
    await hub.unsubscribeAndWait(probes[1])
    #expect(await hub.drain().isEmpty)
    #expect(probes.map(\.log.history) == [[1, 2], [1, 2], [1, 2]])
    #expect(blockade.end(), "something waited for the hub's actor")
    await occupant.value
  }
}

extension DelegateHub {
  /// What users may write: a function that is isolated to the hub.
  fileprivate func occupy(until blockade: Blockade) { blockade.enter() }
}

extension Listener {
  fileprivate func isThere() async -> Bool { true }
}
