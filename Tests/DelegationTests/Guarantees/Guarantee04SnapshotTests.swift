import Testing

@testable import Delegation

@Suite("Guarantee 4: weak, and what a suspended handler keeps", .inTurn)
struct Guarantee04SnapshotTests {
  private static let count = 100

  /// What is suspended while the others come and go.
  enum Suspended: CaseIterable {
    /// The handler of a notification.
    case handler
    /// A task that one left behind.
    case taskLeftBehind
    /// A voter that was late.
    case lateVoter
    /// One whose vote was decided without it.
    case needlessVoter
    /// One that was asked for its own result, and was late.
    case lateInCollect
    /// A task that a voter left behind.
    case taskLeftBehindByVoter
    /// A task left behind by one who was asked in turn.
    case taskLeftBehindInTurn

    /// Has the one at a place suspended at a gate, and returns when nothing else is to be done.
    func play(_ hub: DelegateHub, _ clock: ManualClock, at place: Int, _ gate: Gate) async {
      let name = "\(place)"
      let leaveBehind: @Sendable (any Listener) -> Void = { probe in
        if probe.name == name { Task { await gate.pass() } }
      }
      switch self {
      case .handler:
        hub[Listener.self].notify() { if $0.name == name { await gate.pass() } }
        await gate.arrivals()
        while hub.activity.workers.value > 1 { await Task.yield() }
      case .taskLeftBehind:
        hub[Listener.self].notify() { probe in
          await Task.yield()
          leaveBehind(probe)
        }
        await hub.drain()
      case .lateVoter, .lateInCollect:
        async let call: Void = ask(hub, name, gate)
        await gate.arrivals()
        _ = await clock.alarms()
        while hub.activity.workers.value > 1 { await Task.yield() }
        clock.advance(by: .seconds(1))
        await call
      case .needlessVoter:
        let decider = place == 0 ? "1" : "0"
        _ = await hub[Listener.self].vote() { probe in
          if probe.name == name { await gate.pass() }
          if probe.name == decider { await gate.arrivals() }
          return probe.name != decider
        }
        while hub.activity.workers.value > 1 { await Task.yield() }
      case .taskLeftBehindByVoter:
        _ = await hub[Listener.self].vote() { probe in
          leaveBehind(probe)
          return true
        }
        await hub.drain()
      case .taskLeftBehindInTurn:
        _ = await hub[Listener.self].askInTurn() { probe -> Int? in
          leaveBehind(probe)
          return nil
        }
        await hub.drain()
      }
      await gate.arrivals()
    }

    private func ask(_ hub: DelegateHub, _ name: String, _ gate: Gate) async {
      if case .lateInCollect = self {
        _ = await hub[Listener.self].collect(within: .seconds(1)) { probe in
          if probe.name == name { await gate.pass() }
        }
      } else {
        _ = await hub[Listener.self].vote(within: .seconds(1), absent: .abstains) { probe in
          if probe.name == name { await gate.pass() }
          return true
        }
      }
    }
  }

  @Test(
    "it keeps a subscription or two, however many there were",
    arguments: Suspended.allCases, [0, 50, 99])
  func kept(suspended: Suspended, place: Int) async {
    let clock = ManualClock()
    let hub = DelegateHub { $0.clock = clock }
    let gate = Gate()
    let obituaries = subscribe(to: hub)
    await suspended.play(hub, clock, at: place, gate)
    hub.unsubscribeAll(from: Listener.self)
    // The next look at the list drops those that are gone.
    for _ in 0..<2 { _ = hub[Listener.self].count }
    // A thread that releases the snapshot last may not have come to that yet.
    await until(few: obituaries)
    #expect(obituaries.count { !$0.isDead } <= 2)
    gate.open()
    await hub.drain()
  }

  @Test("the last one that is asked in turn keeps none of those before it")
  func lastInTurn() async {
    let hub = DelegateHub()
    let gate = Gate()
    let obituaries = subscribe(to: hub)
    let asking = Task {
      await hub[Listener.self].askInTurn() { probe -> Int? in
        if probe.name == "\(Self.count - 1)" { await gate.pass() }
        return nil
      }
    }
    await gate.arrivals()
    hub.unsubscribeAll(from: Listener.self)
    for _ in 0..<2 { _ = hub[Listener.self].count }
    await until(few: obituaries)
    #expect(obituaries.count { !$0.isDead } <= 2)
    gate.open()
    #expect(await asking.value == nil)
  }

  /// Subscribes many, who die with this call's end, and gives obituaries of their subscriptions.
  private func subscribe(to hub: DelegateHub) -> [Obituary] {
    Probe.many(Self.count).map { probe in
      Obituary(of: hub.subscribe(probe, to: Listener.self, hold: .strongly).node)
    }
  }

  /// Yields until few subscriptions are left, or it is no use.
  private func until(few obituaries: [Obituary]) async {
    for _ in 0..<10_000 {
      if obituaries.count(where: { !$0.isDead }) <= 2 { return }
      await Task.yield()
    }
  }

  @Test("those who wait for their executor in a question that is decided are not kept")
  func elsewhere() async {
    let hub = DelegateHub()
    let executor = ManualExecutor()
    let no = Probe("no")
    hub.subscribe(no, to: Listener.self)
    let obituaries = Probe.many(Self.count).map { probe in
      let subscription = hub.subscribe(
        probe, to: Listener.self, hold: .strongly, on: probe.name == "0" ? executor : nil)
      return Obituary(of: subscription.node)
    }
    // The answer decides when all others have answered.
    let answered = Gate()
    let outcome = await hub[Listener.self].vote() { probe in
      if probe.name == "no" { await answered.arrivals(Self.count - 1) } else { answered.arrive() }
      return probe.name != "no"
    }
    #expect(!outcome)
    hub.unsubscribeAll(from: Listener.self)
    for _ in 0..<2 { _ = hub[Listener.self].count }
    await until(few: obituaries)
    #expect(obituaries.count { !$0.isDead } <= 2)
    executor.run()
    await hub.drain()
  }
}
