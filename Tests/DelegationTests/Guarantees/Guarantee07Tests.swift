import Delegation
import Foundation
import Testing

@Suite("Guarantee 7: at once", .inTurn)
struct Guarantee07Tests {
  @Test("notify calls nobody, and does the same for one subscriber as for a thousand")
  func sameWork() {
    let work = [1, 1000].map { count in
      let stage = Stage()
      let probes = stage.hub.cast(count)
      // What was left to do by subscribing is done.
      stage.run()
      stage.listeners.notify { $0.log.record(1) }
      let first = stage.executor.pending
      for _ in 0..<10 {
        stage.listeners.notify { probe in
          await Task.yield()
          probe.log.record(1)
        }
      }
      let all = stage.executor.pending
      #expect(probes.allSatisfy { $0.log.count == 0 })
      stage.run()
      #expect(probes.allSatisfy { $0.log.count == 11 })
      return [first, all]
    }
    #expect(work[0] == work[1] && work[0] == [1, 1])
  }

  @Test("it works from plain threads, from a handler, an init and a deinit")
  func fromAnywhere() async {
    final class Ephemeral: Sendable {
      let hub: DelegateHub
      init(_ hub: DelegateHub) {
        self.hub = hub
        hub.listeners.notify { $0.log.record(1) }
      }
      deinit {
        hub.listeners.notify { $0.log.record(2) }
      }
    }
    let (hub, probe) = (DelegateHub(), Probe())
    hub.subscribe(probe, to: Listener.self)
    _ = Ephemeral(hub)
    _ = await probe.log.history(of: 2)
    Thread {
      for number in 3..<10 { hub.listeners.notify { $0.log.record(number) } }
      hub.listeners.notify { probe in
        await Task.yield()
        probe.log.record(10)
        // Not in the handler's place.
        hub.listeners.notify { $0.log.record(12) }
        probe.log.record(11)
      }
    }.start()
    #expect(await probe.log.history(of: 12) == Array(1...12))
  }

  @Test("with nobody subscribed it keeps nothing and starts nothing", arguments: [false, true])
  func nobody(hadSomebody: Bool) {
    let (stage, lifetimes) = (Stage(), Lifetimes())
    if hadSomebody {
      stage.hub.cast(1)
      stage.listeners.registry.unsubscribeAll()
      stage.run()
    }
    for _ in 0..<10 {
      let cargo = lifetimes.make()
      stage.listeners.notify { _ in withExtendedLifetime(cargo) {} }
      stage.listeners.notify { _ in
        await Task.yield()
        withExtendedLifetime(cargo) {}
      }
    }
    #expect(lifetimes.alive == 0 && stage.executor.pending == 0)
    #expect(stage.counted == counts())
  }
}
