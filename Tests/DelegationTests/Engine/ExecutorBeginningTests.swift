import Testing

@testable import Delegation

/// What stands first in a handler's closure, before anything that suspends.
@Suite("Executors: where handlers begin")
struct ExecutorBeginningTests {
  private let own = DispatchQueueExecutor(MarkedQueue.make("own"))

  @Test("the only one who is asked begins on its own executor")
  func single() async {
    let hub = DelegateHub()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self, on: own)
    let places = Recorder<String>()
    _ = await hub[Listener.self].vote() { _ in
      places.record(MarkedQueue.current)
      return true
    }
    _ = await hub[Listener.self].ask(combining: .all()) { _ in places.record(MarkedQueue.current) }
    _ = await hub[Listener.self].collect() { _ in places.record(MarkedQueue.current) }
    #expect(places.history == ["own", "own", "own"])
    withExtendedLifetime(probe) {}
  }

  @Test("of those who are asked in turn, each begins where it belongs")
  func inTurn() async {
    let hub = DelegateHub()
    let probes = Probe.many(3)
    for (index, probe) in probes.enumerated() {
      hub.subscribe(probe, to: Listener.self, on: index < 2 ? own : nil)
    }
    let places = Recorder<String>()
    _ = await hub[Listener.self].askInTurn() { _ -> Int? in
      places.record(MarkedQueue.current)
      return nil
    }
    _ = await hub[Listener.self].pass(1) { _, value in
      places.record(MarkedQueue.current)
      return value
    }
    let expected = ["own", "own", "elsewhere"]
    #expect(places.history == expected + expected)
    withExtendedLifetime(probes) {}
  }
}
