import Delegation
import Testing

@Suite("Guarantee 4: weak", .inTurn(.heavy))
struct Guarantee04Tests {
  let stage = Stage()

  @Test("a subscriber lives while its handler runs; what waits is discarded with it, and released")
  func waiting() {
    let (gate, lifetimes, handled) = (Gate(), Lifetimes(), Recorder<String>())
    var probe: Probe? = Probe("mortal")
    let obituary = Obituary(of: probe!)
    let subscription = stage.hub.subscribe(probe!, to: Listener.self)
    stage.hub.cast(1)
    stage.listeners.notify { probe in
      if probe.name == "mortal" { await gate.pass() }
      handled.record(probe.name)
    }
    for _ in 0..<4 {
      let cargo = lifetimes.make()
      stage.listeners.notify { probe in withExtendedLifetime(cargo) { handled.record(probe.name) } }
    }
    stage.run()
    probe = nil
    #expect(!obituary.isDead)
    stage.open(gate)
    #expect(obituary.isDead && !subscription.isActive && stage.isDrained)
    #expect(handled.history == ["0", "0", "0", "0", "0", "mortal"])
    #expect(stage.counted == counts(handled: 6, expired: 4))
    #expect(lifetimes.alive == 0)
  }

  @Test("one that has died when its turn comes is expired, not called, listed or counted")
  func dead() {
    for reach in Reach.allCases {
      let stage = Stage()
      stage.hub.cast(1)
      // Last: a newcomer at its address would end it.
      do { stage.hub.subscribe(Probe("dead"), to: Listener.self) }
      let called = Recorder<String>()
      #expect(
        stage.perform { await reach($0, suspending: false) { called.record($0.name) } } != nil)
      #expect(called.history == ["0"], "\(reach)")
      #expect(stage.counted.expired == (Reach.asking.contains(reach) ? 0 : 1), "\(reach)")
      #expect(stage.listeners.count == 1 && stage.listeners.subscribers.map(\.name) == ["0"])
      stage.listeners.forEach { _ in called.record("forEach") }
      #expect(called.history == ["0", "forEach"])
    }
  }

  @Test("neither a handler of others nor a vote that it has answered keeps a subscriber")
  func released() async {
    let (hub, gate, passed) = (DelegateHub(), Gate(), Recorder<Void>())
    var probe: Probe? = Probe("mortal")
    let obituary = Obituary(of: probe!)
    hub.subscribe(probe!, to: Listener.self)
    hub.cast(1)
    let handle: @Sendable (any Listener) async -> String = { probe in
      if probe.name == "0" { await gate.pass() } else { passed.record(()) }
      return probe.name
    }
    async let names = hub.listeners.ask(combining: .all(), handle)
    hub.listeners.notify { _ = await handle($0) }
    await gate.arrivals(2)
    _ = await passed.history(of: 2)
    probe = nil
    await obituary.death()
    gate.open()
    #expect(await names == ["mortal", "0"])
    await hub.drain()
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
    await owner?.hub.listeners.notifyAndWait { $0.log.record(1) }
    owner = nil
    for obituary in obituaries { await obituary.death() }
  }

  @Test("a held subscriber lives until its subscription has ended, and its handler has returned")
  func held() {
    // Replaced if there is no removal.
    let removals = Removal.allCases.map(Optional.some) + [nil]
    for reach in [Reach.notifyAsynchronously, .vote, .collect] {
      for removal in removals {
        let (stage, gate, probe) = (Stage(), Gate(), Guarded<Probe?>(Probe("held")))
        let (obituary, heir) = (probe.withLock { Obituary(of: $0!) }, Probe("held"))
        let subscription = (removal ?? .unsubscribeByID).subscribe(
          probe.withLock { $0! }, to: stage.hub, hold: .strongly)
        _ = probe.take()
        let call = stage.start { await reach.call($0) { _ in await gate.pass() } }
        #expect(!obituary.isDead && subscription.isActive && gate.arrived == 1)
        if removal == nil { Removal.unsubscribeByID.subscribe(heir, to: stage.hub) }
        if let removal, let probe = stage.listeners.subscribers.first as? Probe {
          removal.remove(probe, subscription, from: stage.hub)
        }
        #expect(!obituary.isDead && !subscription.isActive)
        stage.open(gate)
        #expect(call.result != nil && obituary.isDead, "\(reach), \(removal as Any)")
      }
    }
  }

  @Test("it goes with its hub, when its id is taken, and when it is subscribed weakly again")
  func noLongerHeld() async {
    var hub: DelegateHub? = DelegateHub()
    let obituaries = Probe.many(3).map { probe in
      hub?.subscribe(probe, to: Listener.self, id: probe.name, hold: .strongly)
      return Obituary(of: probe)
    }
    let successor = Probe("successor")
    hub?.subscribe(successor, to: Listener.self, id: "0")
    if let probe = hub?.listeners.subscribers[1] {
      hub?.subscribe(probe, to: Listener.self, hold: .weakly)
    }
    #expect(obituaries.map(\.isDead) == [true, true, false])
    #expect(hub?.listeners.subscribers.map(\.name) == ["successor", "2"])
    hub = nil
    for obituary in obituaries { await obituary.death() }
  }

  @Test("one that subscribes in its deinit has an ended subscription, takes no place, is not kept")
  func dying() {
    final class Late: Listener {
      let name = "late"
      let log = Recorder<Int>()
      let hub: DelegateHub
      let ended: Recorder<Bool>
      init(_ hub: DelegateHub, _ ended: Recorder<Bool>) { (self.hub, self.ended) = (hub, ended) }
      deinit {
        for id in ["late", nil] {
          let token = hub.subscribe(self, to: Listener.self, id: id, hold: .strongly)
          ended.record(!token.isActive)
        }
      }
    }
    let (ended, namesake) = (Recorder<Bool>(), Probe())
    stage.hub.subscribe(namesake, to: Listener.self, id: "late")
    do { _ = Late(stage.hub, ended) }
    #expect(ended.history == [true, true])
    stage.listeners.notify { $0.log.record(1) }
    stage.run()
    #expect(namesake.log.history == [1] && stage.counted == counts(handled: 1))
  }

  @Test("one that dies while the dead are looked for dies once, and its deinit may call the hub")
  func deathDuringSearch() async {
    let (hub, deaths) = (DelegateHub(), Count())
    var made = 0
    for _ in races(15) {
      // Enough for two searches. In these too some may die, and no lock of the hub may be held then.
      let mortals = (0..<1200).map { _ in
        Probe {
          hub.bystanders.registry.unsubscribeAll()
          deaths.add(1)
        }
      }
      for mortal in mortals { hub.subscribe(mortal, to: Listener.self) }
      made += mortals.count
    }
    while hub.listeners.count > 0 { await Task.yield() }
    await hub.drain()
    #expect(deaths.value == made)
  }
}
