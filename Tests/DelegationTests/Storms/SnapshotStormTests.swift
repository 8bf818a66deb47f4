import Testing

@testable import Delegation

@Suite("Storm: handlers that are suspended while subscribers come and go", .inTurn(.heavy))
struct SnapshotStormTests {
  private static let members = 20

  @Test("each keeps a subscription or two, however many there were", arguments: seeds(1))
  func kept(seed: UInt64) async {
    let hub = DelegateHub { $0.onIncident = { _ in } }
    let gate = Gate()
    var dice = Dice(seed: seed)
    var obituaries: [Obituary] = []
    let calls = rounds(40, atLeast: 20).count
    await withTaskGroup { group in
      for _ in 0..<calls {
        obituaries += Probe.many(Self.members).map { probe in
          Obituary(of: hub.subscribe(probe, to: Listener.self, hold: .strongly).node)
        }
        await Self.play(dice.roll(4), for: "\(dice.roll(Self.members))", hub, gate, &group)
        hub.unsubscribeAll(from: Listener.self)
      }
      // The next look at the list drops those that are gone. A thread that releases a snapshot last may not
      // have come to that yet.
      for _ in 0..<2_000 where obituaries.count(where: { !$0.isDead }) > 2 * calls {
        _ = hub[Listener.self].count
        await Task.yield()
      }
      #expect(obituaries.count { !$0.isDead } <= 2 * calls, "of \(obituaries.count)")
      gate.open()
    }
    await hub.drain()
  }

  /// Makes a call in which one handler is suspended, or leaves behind a task that is, and returns when all
  /// handlers have been called.
  private static func play(
    _ kind: Int, for name: String, _ hub: DelegateHub, _ gate: Gate, _ group: inout TaskGroup<Void>
  ) async {
    let called = Gate()
    switch kind {
    case 0:
      hub[Listener.self].notify() { probe in
        called.arrive()
        if probe.name == name { await gate.pass() }
      }
    case 1:
      hub[Listener.self].notify() { probe in
        called.arrive()
        if probe.name == name { Task { await gate.pass() } }
      }
    case 2:
      group.addTask {
        _ = await hub[Listener.self].vote() { probe in
          called.arrive()
          if probe.name == name { await gate.pass() }
          return true
        }
      }
    default:
      _ = await hub[Listener.self].askInTurn() { probe -> Int? in
        called.arrive()
        if probe.name == name { Task { await gate.pass() } }
        return nil
      }
    }
    await called.arrivals(Self.members)
  }
}
