import Delegation
import Testing

@Suite("Guarantee 14: drain", .inTurn)
struct Guarantee14Tests {
  let stage = Stage()

  @Test("it returns when nothing waits and no handler runs", arguments: Reach.allCases)
  func waits(reach: Reach) {
    let (gates, handled) = ([Gate(), Gate()], Recorder<String>())
    #expect(stage.isDrained)
    stage.hub.cast(2)
    #expect(stage.isDrained)
    _ = stage.start { hub in
      await reach.call(hub) { probe in
        await gates[Int(probe.name)!].pass()
        handled.record(probe.name)
      }
    }
    stage.listeners.notify { handled.record("told \($0.name)") }
    let drain = stage.start { await $0.drain().isEmpty }
    #expect(drain.result == nil)
    stage.open(gates[0])
    #expect(drain.result == nil)
    stage.open(gates[1])
    #expect(drain.result == true && handled.count == 4)
    #expect(stage.isDrained)
  }

  @Test("between two turns the hub is not at rest", arguments: [Reach.askInTurn, .pass])
  func betweenTurns(reach: Reach) {
    let (stage, elsewhere) = (Stage(), ManualExecutor())
    let answered = Recorder<String>()
    stage.hub.cast(1)
    stage.hub.subscribe(Probe("there"), to: Listener.self, hold: .strongly, on: elsewhere)
    stage.hub.subscribe(Probe("last"), to: Listener.self, hold: .strongly)
    // The caller runs elsewhere, too, and stands still whenever a turn has ended.
    let callers = ManualExecutor()
    let call = callers.start { [hub = stage.hub] in
      await reach.call(hub) { answered.record($0.name) }
    }
    let drain = stage.start { await $0.drain().isEmpty }
    while !call.isOver {
      #expect(drain.result == nil || answered.count == 3, "drained after \(answered.history)")
      if callers.run(atMost: 1) + stage.executor.run(atMost: 1) + elsewhere.run(atMost: 1) == 0 {
        break
      }
    }
    stage.run()
    #expect(call.isOver && drain.result == true && answered.history == ["0", "there", "last"])
  }

  @Test("ten thousand tasks that wait for one hub all go on when it comes to rest")
  func manyOutside() async {
    let (hub, gate) = (DelegateHub(), Gate())
    let subscription = hub.subscribe(Probe(), to: Listener.self, hold: .strongly)
    hub.listeners.notify { _ in await gate.pass() }
    await gate.arrivals()
    await withTaskGroup { group in
      for number in 0..<10_000 {
        group.addTask {
          switch number % 3 {
          case 0: await hub.drain()
          case 1: await hub.listeners.notifyAndWait { _ in }
          default: await subscription.cancelAndWait()
          }
        }
      }
      group.addTask { gate.open() }
    }
    #expect(await hub.drain().isEmpty)
  }
}
