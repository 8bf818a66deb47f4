import Testing

@testable import Delegation

@Suite("Memory of mailboxes", .inTurn(.heavy))
struct MailboxMemoryTests {
  @Test(
    "one that hangs with a limit costs bounded memory under a flood, and the others handle all",
    arguments: [DelegateHub.MailboxPolicy.dropOldest(limit: 10), .dropNewest(limit: 10), .latest])
  func flood(policy: DelegateHub.MailboxPolicy) async throws {
    let (bursts, burst) = (25, 4_000)
    let hub = DelegateHub()
    let gate = Gate()
    let lifetimes = Lifetimes()
    let (hung, other) = (Probe("hung"), Probe("other"))
    hub.subscribe(hung, to: Listener.self, mailbox: policy)
    hub.subscribe(other, to: Listener.self)
    hub[Listener.self].notify() { if $0.name == "hung" { await gate.pass() } }
    await gate.arrivals()
    var most = 0
    for round in 1...bursts {
      for number in 0..<burst {
        let cargo = lifetimes.make()
        hub[Listener.self].notify() { probe in
          withExtendedLifetime(cargo) {}
          if probe.name == "hung" || number == burst - 1 { probe.log.record(round) }
        }
      }
      #expect(await other.log.history(of: round).last == round)
      most = max(most, lifetimes.alive)
    }
    // What waits for the one that hangs, and the burst that is under way.
    #expect(most <= policy.limit! + 1 + burst)
    let counts = await hub.statistics().protocols.flatMap { $0.subscribers.map(\.counts) }
    try #require(counts.count == 2)
    #expect(counts[0].dropped == bursts * burst - policy.limit!)
    #expect(counts[0].waiting == policy.limit!)
    #expect(counts[0].handling == 1)
    #expect(counts[1].handled + counts[1].waiting + counts[1].handling == bursts * burst + 1)
    while lifetimes.alive > policy.limit! { await Task.yield() }
    #expect(other.log.history == Array(1...bursts))
    gate.open()
    await hub.drain()
    #expect(hung.log.history.count == policy.limit!)
    #expect(lifetimes.alive == 0)
  }

  /// How many references there are to what a notification captures while it waits for that many.
  private func references(whileWaitingFor count: Int) -> UInt {
    let stage = Stage()
    let gate = Gate()
    let lifetimes = Lifetimes()
    let probes = stage.cast(count)
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.run()
    let cargo = lifetimes.make()
    stage.hub[Listener.self].notify() { _ in withExtendedLifetime(cargo) {} }
    stage.run()
    #expect(gate.arrived == count)
    defer {
      stage.open(gate)
      withExtendedLifetime(probes) {}
    }
    return _getRetainCount(cargo)
  }

  @Test("a notification that waits for a thousand is stored once")
  func storedOnce() {
    #expect(references(whileWaitingFor: 1_000) == references(whileWaitingFor: 1))
  }

  @Test("its captures are released when the last one has passed it, though more waits")
  func releasedWhenPassed() {
    let stage = Stage()
    let lifetimes = Lifetimes()
    let gates = (0..<3).map { _ in Gate() }
    let probes = stage.cast(1_000)
    for gate in gates {
      let cargo = lifetimes.make()
      stage.hub[Listener.self].notify() { probe in
        withExtendedLifetime(cargo) {}
        if probe.name == "999" || probe.name == "0" { await gate.pass() }
      }
    }
    stage.run()
    #expect(lifetimes.alive == 3)
    for (number, gate) in gates.enumerated() {
      stage.open(gate)
      #expect(lifetimes.alive == 2 - number)
    }
    withExtendedLifetime(probes) {}
  }

  @Test("they are released when the last one that has yet to handle it leaves, or has died")
  func releasedWhenLeft() {
    let stage = Stage()
    let gate = Gate()
    let lifetimes = Lifetimes()
    let (stays, leaves) = (Probe("stays"), Probe("leaves"))
    var mortal: Probe? = Probe("mortal")
    stage.hub.subscribe(stays, to: Listener.self)
    stage.hub.subscribe(leaves, to: Listener.self)
    if let mortal { stage.hub.subscribe(mortal, to: Listener.self) }
    stage.hub[Listener.self].notify() { if $0.name != "stays" { await gate.pass() } }
    for _ in 0..<5 {
      let cargo = lifetimes.make()
      stage.hub[Listener.self].notify() { _ in withExtendedLifetime(cargo) {} }
    }
    stage.run()
    #expect(lifetimes.alive == 5)
    mortal = nil
    stage.hub.unsubscribe(leaves)
    stage.run()
    #expect(lifetimes.alive == 5)
    stage.open(gate)
    #expect(lifetimes.alive == 0)
  }

  @Test("what a limit drops is released at once, though the subscriber hangs")
  func releasedWhenDropped() {
    let stage = Stage()
    let gate = Gate()
    let lifetimes = Lifetimes()
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self, mailbox: .dropOldest(limit: 2))
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.run()
    for count in 1...100 {
      let cargo = lifetimes.make()
      stage.hub[Listener.self].notify() { _ in withExtendedLifetime(cargo) {} }
      stage.run()
      #expect(lifetimes.alive <= min(count, 3))
    }
    #expect(lifetimes.alive == 2)
    stage.open(gate)
    #expect(lifetimes.alive == 0)
    withExtendedLifetime(probe) {}
  }

  @Test("nobody subscribed: the captures are gone when notify returns")
  func nobody() {
    let stage = Stage()
    let lifetimes = Lifetimes()
    func post() {
      let cargo = lifetimes.make()
      stage.hub[Listener.self].notify() { _ in withExtendedLifetime(cargo) {} }
    }
    post()
    #expect(lifetimes.alive == 0)
  }
}
