import Testing

@testable import Delegation

@Suite("Guarantee 14: drain", .inTurn)
struct Guarantee14DrainTests {
  @Test("a hub at rest is drained at once")
  func atRest() async {
    let hub = DelegateHub()
    let probe = Probe()
    #expect(await hub.drain().isEmpty)
    hub.subscribe(probe, to: Listener.self)
    #expect(await hub.drain().isEmpty)
    hub[Listener.self].notify() { _ in }
    #expect(await hub.drain().isEmpty)
    #expect(await hub.drain().isEmpty)
  }

  @Test("it returns when all has been handled, and not before")
  func waits() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let gates = [Gate(), Gate()]
    let probes = Probe.many(2)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    hub[Listener.self].notify() { await gates[Int($0.name)!].pass() }
    hub[Listener.self].notify() { $0.log.record(1) }
    let drain = executor.start { #expect(await hub.drain().isEmpty) }
    #expect(!drain.isOver)
    gates[0].open()
    executor.run()
    #expect(!drain.isOver)
    gates[1].open()
    executor.run()
    #expect(drain.isOver)
    #expect(probes.map(\.log.history) == [[1], [1]])
  }

  @Test("it waits for answers, too")
  func votes() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let gate = Gate()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    let vote = executor.start {
      _ = await hub[Listener.self].vote() { _ in
        await gate.pass()
        return true
      }
    }
    let drain = executor.start { await hub.drain() }
    #expect(!drain.isOver)
    gate.open()
    executor.run()
    #expect([vote.isOver, drain.isOver] == [true, true])
  }

  @Test("what handlers post in turn is waited for, over protocols, votes and generations")
  func generations() async {
    for _ in rounds(20) {
      let hub = DelegateHub()
      let listeners = Probe.many(3)
      let bystanders = Probe.many(3)
      for probe in listeners { hub.subscribe(probe, to: Listener.self) }
      for probe in bystanders { hub.subscribe(probe, to: Bystander.self) }
      @Sendable func post(_ generation: Int) {
        guard generation < 5 else { return }
        hub[Listener.self].notify() { probe in
          probe.log.record(generation)
          guard probe.name == "0" else { return }
          await Task.yield()
          _ = await hub[Bystander.self].vote() { bystander in
            if bystander.name == "2" {
              hub[Bystander.self].notify() { bystander in
                bystander.log.record(generation)
                if bystander.name == "1" { post(generation + 1) }
              }
            }
            return true
          }
        }
      }
      post(0)
      #expect(await hub.drain().isEmpty)
      #expect(listeners.map(\.log.history) == Array(repeating: Array(0..<5), count: 3))
      #expect(bystanders.map(\.log.history) == Array(repeating: Array(0..<5), count: 3))
    }
  }

  @Test("many who drain at the same time all return, and everything has been handled")
  func many() async {
    for _ in rounds(20) {
      let hub = DelegateHub()
      let probes = Probe.many(4)
      for probe in probes { hub.subscribe(probe, to: Listener.self) }
      await withTaskGroup { group in
        for poster in 0..<6 {
          group.addTask {
            let own = Recorder<Void>()
            for _ in 0..<10 {
              hub[Listener.self].notify() { _ in
                if poster % 2 == 0 { await Task.yield() }
                own.record(())
              }
            }
            #expect(await hub.drain().isEmpty)
            #expect(own.history.count == 40)
          }
        }
      }
    }
  }

  @Test("the handler of a subscriber that was removed or died meanwhile is waited for")
  func removed() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let gate = Gate()
    var probe: Probe? = Probe()
    let subscription = hub.subscribe(probe!, to: Listener.self)
    hub[Listener.self].notify() { _ in await gate.pass() }
    executor.run()
    subscription.cancel()
    probe = nil
    let drain = executor.start { await hub.drain() }
    #expect(!drain.isOver)
    gate.open()
    executor.run()
    #expect(drain.isOver)
    _ = probe
  }

  @Test("it does not wait for the subscribers of another hub")
  func otherHub() async {
    let hubs = [DelegateHub(), DelegateHub()]
    let gate = Gate()
    let probe = Probe()
    for hub in hubs { hub.subscribe(probe, to: Listener.self) }
    hubs[0].notify(Listener.self) { _ in await gate.pass() }
    await gate.arrivals()
    hubs[1].notify(Listener.self) { $0.log.record(1) }
    #expect(await hubs[1].drain().isEmpty)
    #expect(probe.log.history == [1])
    gate.open()
    await hubs[0].drain()
  }
}
