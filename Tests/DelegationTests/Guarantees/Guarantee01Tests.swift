import Delegation
import Testing

@Suite("Guarantee 1: snapshot", .inTurn(.heavy))
struct Guarantee01Tests {
  @Test("a call reaches those subscribed when it was made, and none that its handlers subscribe")
  func added() async {
    for reach in Reach.allCases {
      let (hub, called) = (DelegateHub(), Recorder<String>())
      hub.cast(2)
      for expected in [["0", "1"], ["0", "1", "late"]] {
        await reach(hub, suspending: false) { probe in
          called.record(probe.name)
          guard probe.name == "0" else { return }
          hub.subscribe(Probe("late"), to: Listener.self, priority: 1, id: 1, hold: .strongly)
        }
        #expect(called.clear().sorted() == expected, "\(reach)")
        if expected.count == 2 {
          #expect(hub.listeners.subscribers.map(\.name) == ["late", "0", "1"])
        }
      }
    }
  }

  @Test("a notification reaches those subscribed when posted; who comes back hears what follows")
  func notifications() {
    let stage = Stage()
    let (probes, other) = (Probe.many(4), Probe())
    stage.hub.subscribe(other, to: Listener.self)
    for (number, probe) in probes.enumerated() {
      stage.listeners.notify { $0.log.record(number) }
      stage.hub.subscribe(probe, to: Listener.self)
    }
    stage.hub.unsubscribe(probes[0])
    stage.listeners.notify { $0.log.record(4) }
    stage.hub.subscribe(probes[0], to: Listener.self)
    stage.listeners.notify { $0.log.record(5) }
    stage.run()
    #expect(probes.map(\.log.history) == [[5], [2, 3, 4, 5], [3, 4, 5], [4, 5]])
    #expect(other.log.history == Array(0...5))
  }

  @Test("who joins or leaves amid a storm hears one unbroken stretch of the hub's total order")
  func totalOrder() async {
    for _ in rounds(5) {
      let (hub, witness) = (DelegateHub(), Probe("witness"))
      hub.subscribe(witness, to: Listener.self)
      let (joiners, leavers) = (Probe.many(40), Probe.many(40))
      for leaver in leavers { hub.subscribe(leaver, to: Listener.self) }
      await withTaskGroup { group in
        for poster in 0..<4 {
          group.addTask {
            for number in 0..<100 {
              hub.listeners.notify { $0.log.record(poster * 1000 + number) }
              if number % 10 == 0 { await Task.yield() }
            }
          }
        }
        for joiner in joiners { group.addTask { hub.subscribe(joiner, to: Listener.self) } }
        for leaver in leavers { group.addTask { hub.unsubscribe(leaver) } }
      }
      await hub.drain()
      let order = witness.log.history
      #expect(Set(order).count == 400 && order.count == 400)
      let histories = { (probes: [Probe]) in probes.map(\.log.history) }
      #expect(histories(joiners).allSatisfy { $0 == Array(order.suffix($0.count)) })
      #expect(histories(leavers).allSatisfy { $0 == Array(order.prefix($0.count)) })
    }
  }
}
