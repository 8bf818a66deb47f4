import Delegation
import Testing

@Suite("Guarantee 14: drain", .inTurn)
struct Guarantee14Tests {
  let stage = Stage()

  @Test(
    "it returns when no notification waits and no handler runs, and not before",
    arguments: Reach.allCases)
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

  @Test(
    "between two turns of a question in turn the hub is not at rest",
    arguments: [Reach.askInTurn, .pass])
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

  @Test(
    "it waits for one that was removed or died, for closures that delay it, for onIncident; not for another hub"
  )
  func more() {
    let (gate, told) = (Gate(), Recorder<String>())
    let stage = Stage { $0.onIncident = { told.record($0.reason) } }
    var probe: Probe? = Probe()
    let token = stage.hub.subscribe(probe!, to: Listener.self)
    stage.listeners.notify { _ in
      await gate.pass()
      throw Refusal(reason: "at last")
    }
    stage.run()
    token.cancel()
    probe = nil
    let other = DelegateHub(on: stage.executor)
    let delay = Gate()
    _ = stage.start { await $0.delayingDrain { await delay.pass() } }
    let drain = stage.start { await $0.drain().isEmpty }
    #expect(stage.perform { _ in await other.drain().isEmpty } == true)
    #expect(stage.perform { await $0.drain(within: .zero) }?.delays == 1)
    stage.open(gate)
    #expect(drain.result == nil)
    stage.open(delay)
    #expect(drain.result == true && told.history == ["at last"])
  }

  @Test(
    "what handlers post in turn is waited for, over protocols, votes and generations, by many at once"
  )
  func generations() async {
    for _ in rounds(20) {
      let hub = DelegateHub()
      let listeners = hub.cast(3)
      for probe in listeners { hub.subscribe(probe, to: Bystander.self) }
      @Sendable func post(_ generation: Int) {
        guard generation < 5 else { return }
        hub.listeners.notify { probe in
          probe.log.record(generation)
          guard probe.name == "0" else { return }
          await Task.yield()
          _ = await hub.bystanders.vote { bystander in
            if bystander.name == "2" {
              hub.bystanders.notify { bystander in
                bystander.log.record(10 + generation)
                if bystander.name == "1" { post(generation + 1) }
              }
            }
            return true
          }
        }
      }
      post(0)
      await withTaskGroup { group in
        for _ in 0..<6 {
          group.addTask {
            #expect(await hub.drain().isEmpty)
            #expect(
              listeners.allSatisfy { $0.log.history.sorted() == Array(0..<5) + Array(10..<15) })
          }
        }
      }
    }
  }

  @Test("at its deadline, and if its caller is cancelled, it returns what is left, and who")
  func leftovers() throws {
    let (gate, probes) = (Gate(), Probe.many(3))
    for probe in probes {
      stage.hub.subscribe(probe, to: Listener.self, id: "id \(probe.name)", fileID: "site")
    }
    stage.listeners.notify { if $0.name == "1" { await gate.pass() } }
    for number in 0..<2 { stage.listeners.notify { $0.log.record(number) } }
    stage.run()
    let drains = [nil, Duration.seconds(5), .seconds(9), .zero, .seconds(-1)].map { time in
      stage.start { await $0.drain(within: time) }
    }
    #expect(
      stage.alarms == 2 && drains.map { $0.result == nil } == [true, true, true, false, false])
    stage.advance(by: .seconds(5))
    drains[0].cancel()
    stage.run()
    #expect(drains.map { $0.result == nil } == [false, false, true, false, false])
    for drain in drains where drain.result != nil {
      let left = try #require(drain.result)
      let hung = try #require(left.subscribers.first)
      #expect(left.subscribers.count == 1 && hung.running == 1 && hung.waiting == 2)
      #expect(hung.subscriber.contains("Probe") && hung.subscriber.contains("id 1"))
      #expect(hung.site.contains("site:") && left.description.contains("id 1"))
    }
    stage.open(gate)
    #expect(drains[2].result?.description == "nothing left" && stage.alarms == 0)
    #expect(probes.allSatisfy { $0.log.history == [0, 1] })
  }

  @Test("with no time, or cancelled, it returns on threads, too, at whatever moment")
  func noTime() async {
    let (hub, gate) = (DelegateHub(), Gate())
    hub.cast(1)
    hub.listeners.notify { _ in await gate.pass() }
    await gate.arrivals()
    for _ in rounds(200) {
      #expect(await hub.drain(within: .zero).subscribers.count == 1)
      let drain = Task { await hub.drain() }
      drain.cancel()
      #expect(await drain.value.subscribers.count == 1)
    }
    gate.open()
    #expect(await hub.drain().isEmpty)
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

  @Test("a hub that was released handles what was posted, then it goes, and its subscriptions end")
  func releasedHub() async {
    let (gate, probe, seen) = (Gate(), Probe(), Recorder<DelegateHub.Subscription>())
    let obituary = await {
      let hub = DelegateHub()
      seen.record(hub.subscribe(probe, to: Listener.self))
      hub.listeners.notify { probe in
        await gate.pass()
        probe.log.record(1)
      }
      hub.listeners.notify { $0.log.record(2) }
      await gate.arrivals()
      return Obituary(of: hub)
    }()
    gate.open()
    #expect(await probe.log.history(of: 2) == [1, 2])
    await obituary.death()
    while seen.history[0].isActive { await Task.yield() }
  }
}
