import Testing

@testable import Delegation

@Suite("Faults: what ends early, and what becomes too much", .inTurn(.heavy))
struct FaultReleaseTests {
  @Test("The hub is released with work waiting")
  func hubIsReleased() {
    let executor = ManualExecutor()
    let lifetimes = Lifetimes()
    let probes = Probe.many(3)
    let gate = Gate()
    var hub: DelegateHub? = DelegateHub(on: executor)
    let obituary = Obituary(of: hub!)
    var subscriptions = probes.map { hub!.subscribe($0, to: Listener.self) }
    let held = Obituary(
      of: { () -> Probe in
        let probe = Probe("held")
        subscriptions.append(hub!.subscribe(probe, to: Listener.self, hold: .strongly))
        return probe
      }())
    for number in 0..<100 {
      let cargo = lifetimes.make()
      hub?[Listener.self].notify() { probe in
        withExtendedLifetime(cargo) {}
        if number == 50, probe.name == "1" { await gate.pass() }
        probe.log.record(number)
      }
    }
    hub = nil
    #expect(subscriptions.map(\.isActive) == Array(repeating: true, count: 4))
    executor.run()
    #expect(probes.map(\.log.history.count) == [100, 50, 100])
    // As long as a handler runs or something waits, there is a hub.
    #expect(!obituary.isDead)
    #expect(!held.isDead)
    gate.open()
    executor.run()
    for probe in probes { #expect(probe.log.history == Array(0..<100)) }
    #expect(obituary.isDead)
    #expect(held.isDead)
    #expect(lifetimes.alive == 0)
    #expect(subscriptions.map(\.isActive) == Array(repeating: false, count: 4))
  }

  /// How many notifications a flood is.
  private static let million = 1_000_000

  /// Posts a million notifications, each with cargo, and gives the most of it that was alive.
  private func flood(_ stage: Stage, _ lifetimes: Lifetimes) -> Int {
    var most = 0
    for number in 1...Self.million {
      let cargo = lifetimes.make()
      stage.hub[Listener.self].notify() { _ in withExtendedLifetime(cargo) {} }
      guard number % 1_000 == 0 else { continue }
      most = max(most, lifetimes.alive)
      stage.run()
    }
    return most
  }

  @Test("A million notifications flood a mailbox that has a limit")
  func floodWithLimit() {
    let stage = Stage()
    let lifetimes = Lifetimes()
    let gate = Gate()
    let hung = Probe("hung")
    stage.hub.subscribe(hung, to: Listener.self, mailbox: .dropOldest(limit: 10))
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.run()
    // What waits, and what was posted since the hub last had a thread.
    #expect(flood(stage, lifetimes) <= 10 + 1_000)
    #expect(lifetimes.alive == 10)
    #expect(stage.accounts == .init(dropped: Self.million - 10, waiting: 10, handling: 1))
    stage.open(gate)
    #expect(stage.accounts == .init(handled: 11, dropped: Self.million - 10))
    #expect(lifetimes.alive == 0)
    withExtendedLifetime(hung) {}
  }

  @Test("A million notifications flood a mailbox that has none")
  func floodWithoutLimit() {
    let stage = Stage()
    let lifetimes = Lifetimes()
    let gate = Gate()
    let probes = stage.cast(2)
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.run()
    #expect(flood(stage, lifetimes) == Self.million)
    #expect(stage.accounts == .init(waiting: 2 * Self.million, handling: 2))
    // All of it is released in one go by the last who has it, link by link.
    stage.hub.unsubscribe(probes[0])
    #expect(lifetimes.alive == Self.million)
    stage.hub.unsubscribe(probes[1])
    #expect(lifetimes.alive == 0)
    stage.open(gate)
    #expect(stage.accounts == .init(handled: 2, cancelled: 2 * Self.million))
  }
}
