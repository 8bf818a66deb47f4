import Foundation
import Testing

@testable import Delegation

@Suite("Guarantee 7: at once", .inTurn(.heavy))
struct Guarantee07AtOnceTests {
  @Test("notify returns without having called anybody")
  func handlesNothing() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    hub[Listener.self].notify() { $0.log.record(1) }
    hub[Listener.self].notify() { probe in
      await Task.yield()
      probe.log.record(2)
    }
    #expect(probes.map(\.log.history) == [[], [], []])
    executor.run()
    #expect(probes.map(\.log.history) == [[1, 2], [1, 2], [1, 2]])
  }

  @Test("it calls nobody in the caller's place, from a handler neither")
  func notInPlace() async {
    let hub = DelegateHub()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    hub[Listener.self].notify() { probe in
      probe.log.record(1)
      hub[Listener.self].notify() { $0.log.record(3) }
      probe.log.record(2)
    }
    await hub.drain()
    #expect(probe.log.history == [1, 2, 3])
  }

  @Test("it does the same for one subscriber as for a thousand")
  func sameWork() {
    let work = [1, 1000].map { count in
      let executor = ManualExecutor()
      let hub = DelegateHub(on: executor)
      let probes = Probe.many(count)
      for probe in probes { hub.subscribe(probe, to: Listener.self) }
      // Whatever was left to do by subscribing is done.
      executor.run()
      hub[Listener.self].notify() { $0.log.record(1) }
      let first = executor.pending
      for _ in 0..<100 { hub[Listener.self].notify() { $0.log.record(1) } }
      let all = executor.pending
      executor.run()
      #expect(probes.allSatisfy { $0.log.history.count == 101 })
      return [first, all]
    }
    #expect(work[0] == work[1])
  }

  @Test("it works from a thread that knows nothing of tasks")
  func plainThread() async {
    let hub = DelegateHub()
    let probe = Probe()
    let thread = Thread {
      hub.subscribe(probe, to: Listener.self)
      for number in 0..<10 { hub[Listener.self].notify() { $0.log.record(number) } }
      hub[Listener.self].notify() { probe in
        await Task.yield()
        probe.log.record(10)
      }
    }
    thread.start()
    #expect(await probe.log.history(of: 11) == Array(0...10))
  }

  @Test("it works from an init and from a deinit")
  func initAndDeinit() async {
    final class Ephemeral: Sendable {
      let hub: DelegateHub
      init(_ hub: DelegateHub) {
        self.hub = hub
        hub[Listener.self].notify() { $0.log.record(1) }
      }
      deinit {
        hub[Listener.self].notify() { $0.log.record(2) }
      }
    }
    let hub = DelegateHub()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    _ = Ephemeral(hub)
    #expect(await probe.log.history(of: 2) == [1, 2])
  }

  @Test("with nobody subscribed it keeps nothing and starts nothing", arguments: [false, true])
  func nobody(hadSomebody: Bool) {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let lifetimes = Lifetimes()
    if hadSomebody {
      let probe = Probe()
      hub.subscribe(probe, to: Listener.self)
      hub.unsubscribe(probe)
      executor.run()
    }
    for _ in 0..<10 { post(holding: lifetimes.make(), to: hub) }
    #expect(lifetimes.alive == 0)
    #expect(executor.pending == 0)
  }

  private func post(holding cargo: Lifetimes.Tracked, to hub: DelegateHub) {
    hub[Listener.self].notify() { _ in withExtendedLifetime(cargo) {} }
    hub[Listener.self].notify() { _ in
      await Task.yield()
      withExtendedLifetime(cargo) {}
    }
  }
}
