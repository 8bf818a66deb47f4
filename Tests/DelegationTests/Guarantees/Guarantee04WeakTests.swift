import Testing

@testable import Delegation

@Suite("Guarantee 4: weak", .inTurn)
struct Guarantee04WeakTests {
  @Test("notifications that wait do not keep their subscriber alive, and are discarded with it")
  func waiting() async {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let handled = Recorder<String>()
    let successor = Probe("successor")
    var probe: Probe? = Probe("mortal")
    let obituary = Obituary(of: probe!)
    let subscription = hub.subscribe(probe!, to: Listener.self)
    hub.subscribe(successor, to: Listener.self)
    for _ in 0..<3 { hub[Listener.self].notify() { handled.record($0.name) } }
    #expect(subscription.isActive)
    probe = nil
    #expect(obituary.isDead)
    #expect(!subscription.isActive)
    executor.run()
    #expect(handled.history == ["successor", "successor", "successor"])
    #expect(await hub.drain().isEmpty)
    let counts = await hub.statistics().counts
    #expect([counts.handled, counts.expired, counts.addressed] == [3, 3, 6])
  }

  @Test("a subscriber is alive while its handler runs, and dead before its next one")
  func betweenHandlers() async {
    let hub = DelegateHub()
    let gate = Gate()
    let handled = Recorder<Int>()
    var probe: Probe? = Probe()
    let obituary = Obituary(of: probe!)
    hub.subscribe(probe!, to: Listener.self)
    hub[Listener.self].notify() { _ in
      await gate.pass()
      handled.record(1)
    }
    for number in 2...5 { hub[Listener.self].notify() { _ in handled.record(number) } }
    await gate.arrivals()
    probe = nil
    #expect(!obituary.isDead)
    gate.open()
    #expect(await hub.drain().isEmpty)
    #expect(obituary.isDead)
    #expect(handled.history == [1])
    let counts = await hub.statistics().counts
    #expect([counts.handled, counts.expired, counts.addressed] == [1, 4, 5])
  }

  @Test("the handlers of others do not keep a subscriber alive")
  func othersHandlers() async {
    let hub = DelegateHub()
    let gate = Gate()
    let holdsUp = Probe("holds up")
    var probe: Probe? = Probe("mortal")
    let obituary = Obituary(of: probe!)
    hub.subscribe(holdsUp, to: Listener.self, priority: 1)
    hub.subscribe(probe!, to: Listener.self)
    hub.subscribe(holdsUp, to: Bystander.self)
    let handled = Recorder<Void>()
    hub[Listener.self].notify() { probe in
      if probe.name == "holds up" { await gate.pass() } else { handled.record(()) }
    }
    hub[Bystander.self].notify() { _ in await gate.pass() }
    await gate.arrivals(2)
    _ = await handled.history(of: 1)
    _ = hub[Listener.self].count
    probe = nil
    await obituary.death()
    gate.open()
    await hub.drain()
  }

  @Test("a voter that has answered is released though the vote goes on")
  func answered() async {
    let hub = DelegateHub()
    let gate = Gate()
    let slow = Probe("slow")
    let answered = Recorder<Void>()
    var quick: Probe? = Probe("quick")
    let obituary = Obituary(of: quick!)
    hub.subscribe(quick!, to: Listener.self)
    hub.subscribe(slow, to: Listener.self)
    async let outcome = hub[Listener.self].ask(combining: .all()) { probe in
      if probe.name == "slow" { await gate.pass() } else { answered.record(()) }
      return probe.name
    }
    await gate.arrivals()
    _ = await answered.history(of: 1)
    quick = nil
    await obituary.death()
    gate.open()
    #expect(await outcome == ["quick", "slow"])
  }

  @Test("a voter that dies while it is asked gives its answer, and is then released")
  func dyingVoter() async {
    let hub = DelegateHub()
    let gate = Gate()
    var probe: Probe? = Probe("mortal")
    let obituary = Obituary(of: probe!)
    hub.subscribe(probe!, to: Listener.self)
    async let outcome = hub[Listener.self].ask(combining: .all()) { probe in
      await gate.pass()
      return probe.name
    }
    await gate.arrivals()
    probe = nil
    #expect(!obituary.isDead)
    gate.open()
    #expect(await outcome == ["mortal"])
    #expect(obituary.isDead)
  }

  @Test("the dead are not counted, not listed and not asked")
  func expired() async {
    let hub = DelegateHub()
    let survivor = Probe("survivor")
    let obituary = subscribeMortals(2, to: hub)
    hub.subscribe(survivor, to: Listener.self)
    #expect(obituary.map(\.isDead) == [true, true])
    #expect(hub[Listener.self].count == 1)
    #expect(hub[Listener.self].subscribers.map(\.name) == ["survivor"])
    #expect(await hub[Listener.self].ask(combining: .all()) { $0.name } == ["survivor"])
    #expect(await hub[Listener.self].vote(by: .majority) { _ in true })
  }

  @Test("what was to be told to the dead is released")
  func discarded() async {
    let hub = DelegateHub()
    let lifetimes = Lifetimes()
    subscribeMortals(10, to: hub)
    for _ in 0..<10 {
      let cargo = lifetimes.make()
      hub[Listener.self].notify() { _ in withExtendedLifetime(cargo) {} }
    }
    await hub.drain()
    #expect(lifetimes.alive == 0)
  }

  @Test("a hub that is held by nobody but its subscribers' tasks goes once it is at rest")
  func hubIsReleased() async {
    let gate = Gate()
    let probe = Probe()
    let obituary = await {
      let hub = DelegateHub()
      hub.subscribe(probe, to: Listener.self)
      hub[Listener.self].notify() { probe in
        await gate.pass()
        probe.log.record(1)
      }
      hub[Listener.self].notify() { $0.log.record(2) }
      await gate.arrivals()
      return Obituary(of: hub)
    }()
    gate.open()
    #expect(await probe.log.history(of: 2) == [1, 2])
    await obituary.death()
  }

  @Test("a subscriber that holds its hub makes no cycle")
  func noCycle() async {
    final class Owner: Listener {
      let name = "owner"
      let log = Recorder<Int>()
      let hub = DelegateHub()
      init() { hub.subscribe(self, to: Listener.self) }
    }
    var owner: Owner? = Owner()
    let obituaries = [Obituary(of: owner!), Obituary(of: owner!.hub)]
    owner?.hub[Listener.self].notify() { $0.log.record(1) }
    _ = await owner?.log.history(of: 1)
    owner = nil
    for obituary in obituaries { await obituary.death() }
  }

  @discardableResult
  private func subscribeMortals(_ count: Int, to hub: DelegateHub) -> [Obituary] {
    Probe.many(count).map { probe in
      hub.subscribe(probe, to: Listener.self)
      return Obituary(of: probe)
    }
  }
}
