import Testing

@testable import Delegation

@Suite("Guarantee 14: drain, when subscribers are taken over or end", .inTurn)
struct Guarantee14TakeOverTests {
  private static let pool = ThreadPool(threads: 3)

  @Test("it does not return while a successor takes over what waits")
  func takeOver() async {
    for round in races(20) {
      let hub = DelegateHub(on: Self.pool)
      let (former, successor) = (Probe("former"), Probe("successor"))
      let begun = Gate()
      let subscription = hub.subscribe(former, to: Listener.self, id: "seat")
      // Its worker leaves as soon as the take-over has begun, which takes long with so many.
      hub[Listener.self].notify() { _ in
        begun.arrive()
        while subscription.isActive { await Task.yield() }
      }
      for _ in 0..<20_000 { hub[Listener.self].notify() { _ in } }
      await begun.arrivals()
      let takeOver = Task.detached(executorPreference: Self.pool) {
        _ = hub.subscribe(
          successor, to: Listener.self, id: "seat", mailbox: .dropOldest(limit: 3))
      }
      let left = await hub.drain()
      #expect(left.isEmpty)
      let counts = await hub.statistics().counts
      #expect(counts.waiting + counts.handling == 0, "round \(round): \(counts)")
      await takeOver.value
    }
  }

  /// How the subscriber goes whose executor stands still.
  enum Leaving: CaseIterable {
    case cancelled
    case takenOver
    case subscribedAgain
  }

  @Test(
    "what was sent to an executor that stands still is no work left once its subscriber has ended",
    arguments: Leaving.allCases, Lane.Hold.allCases)
  func standingStill(leaving: Leaving, hold: Lane.Hold) async {
    let hub = DelegateHub(on: Self.pool)
    let lane = Lane("lane")
    let (stuck, free) = (Probe("stuck"), Probe("free"))
    let subscription = hub.subscribe(
      stuck, to: Listener.self, id: "seat", on: LaneTaskExecutor(lane))
    hub.subscribe(free, to: Listener.self)
    lane.hold(hold)
    await lane.isHeld.arrivals()
    hub[Listener.self].notify() { $0.log.record(1) }
    #expect(await free.log.history(of: 1) == [1])
    while lane.jobs == 0 { await Task.yield() }
    var successor: Probe?
    switch leaving {
    case .cancelled:
      await subscription.cancelAndWait()
    case .takenOver:
      successor = Probe("successor")
      if let successor { hub.subscribe(successor, to: Listener.self, id: "seat") }
    case .subscribedAgain:
      hub.unsubscribe(stuck)
      hub.subscribe(stuck, to: Listener.self)
      hub[Listener.self].notify() { $0.log.record(2) }
    }
    let left = await hub.drain(within: .seconds(InTurn.patience))
    #expect(left.isEmpty, "\(left)")
    #expect(lane.release(), "the test has waited for the lane")
    await lane.passage()
    await hub.drain()
    #expect(successor?.log.history ?? [1] == [1])
    #expect(stuck.log.history == (leaving == .subscribedAgain ? [2] : []))
    #expect(free.log.history == (leaving == .subscribedAgain ? [1, 2] : [1]))
    withExtendedLifetime(successor) {}
  }
}
