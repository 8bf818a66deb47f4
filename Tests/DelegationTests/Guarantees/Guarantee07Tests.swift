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
