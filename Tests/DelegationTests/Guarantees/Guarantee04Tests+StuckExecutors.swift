import Delegation
import Testing

/// Subscribers that die or end while their own executor is busy, suspended or gone.
extension Guarantee04Tests {
  @Test("no call or drain waits for a dead subscriber's executor", arguments: Reach.allCases)
  func dead(reach: Reach) {
    // Alone, a voter is asked in the caller's task; beside others, in one of its own.
    for others in 0...2 {
      let (stage, stuck, called) = (Stage(), ManualExecutor(), Recorder<String>())
      stage.hub.cast(others)
      // Last: a newcomer at its address would end it.
      let subscription = stage.hub.subscribe(
        Probe("dead"), to: Listener.self, priority: 1, on: stuck)
      let left = stage.perform { hub in
        await reach.call(hub) { called.record($0.name) }
        return await hub.drain()
      }
      #expect(left?.isEmpty == true, "\(others) others")
      #expect(called.count == others && !subscription.isActive)
      #expect(subscription.statistics.counts.expired == (Reach.asking.contains(reach) ? 0 : 1))
      stuck.run()
    }
  }

  @Test("what waits does not grow for one that died after it had been sent to its executor")
  func diesLater() {
    let (stuck, lifetimes) = (ManualExecutor(), Lifetimes())
    var probe: Probe? = Probe()
    let subscription = stage.hub.subscribe(probe!, to: Listener.self, on: stuck)
    func post() {
      let captured = lifetimes.make()
      stage.listeners.notify { _ in withExtendedLifetime(captured) {} }
      stage.run()
    }
    for _ in 0..<9 { post() }
    let wait = stage.start { await $0.listeners.notifyAndWait { _ in } }
    #expect(lifetimes.alive == 9)
    probe = nil
    // The limit: nobody looks before the next notification.
    stage.run()
    #expect(wait.result == nil)
    post()
    #expect(lifetimes.alive == 0 && !subscription.isActive)
    #expect(wait.result?.missed == 1 && wait.result?.isHandled == false)
    for _ in 0..<10 { post() }
    // The worker that was sent there will find nothing to do, and is no work left.
    for _ in 0..<2 {
      #expect(lifetimes.alive == 0 && stage.isDrained)
      #expect(subscription.statistics.counts == counts(expired: 11))
      stuck.run()
    }
  }

  @Test("one that is moved to an executor that does not run, and dies, is not sent there")
  func diesInItsHandler() {
    let (stuck, gate) = (ManualExecutor(), Gate())
    var probe: Probe? = Probe()
    let subscription = stage.hub.subscribe(probe!, to: Listener.self)
    for _ in 0..<3 { stage.listeners.notify { _ in await gate.pass() } }
    stage.run()
    let moved = stage.hub.subscribe(probe!, to: Listener.self, on: stuck)
    probe = nil
    stage.open(gate)
    #expect(stage.isDrained)
    #expect(subscription.statistics.counts == counts(handled: 1))
    #expect(moved.statistics.counts == counts(expired: 2))
    stuck.run()
  }

  /// How the subscriber goes whose executor stands still.
  enum Leaving: CaseIterable {
    case cancelled, takenOver, subscribedAgain
  }

  @Test(
    "what was sent to an executor that stands still is no work left once its subscriber has ended",
    arguments: Leaving.allCases)
  func ended(leaving: Leaving) {
    for hasGivenWay in [false, true] {
      let (stage, stuck, gate) = (Stage(), ManualExecutor(), Gate())
      let (probe, successor) = (Probe("probe"), Probe("successor"))
      let first = stage.hub.subscribe(probe, to: Listener.self, id: "seat", on: stuck)
      stage.listeners.notify { probe in
        await gate.pass()
        probe.log.record(1)
      }
      stage.run()
      if hasGivenWay { stuck.run() }
      stage.listeners.notify { $0.log.record(2) }
      stage.run()
      gate.open()
      // Its worker goes on when the executor does.
      if hasGivenWay {
        while first.statistics.counts.handled == 0 { #expect(stuck.run(atMost: 1) == 1) }
      }
      let begun = probe.log.history
      switch leaving {
      case .cancelled: first.cancel()
      case .takenOver:
        stage.hub.subscribe(
          successor, to: Listener.self, id: "seat", on: stage.executor)
      case .subscribedAgain:
        first.cancel()
        stage.hub.subscribe(probe, to: Listener.self)
        stage.listeners.notify { $0.log.record(3) }
      }
      stage.run()
      let own = begun + (leaving == .subscribedAgain ? [3] : [])
      let others = leaving == .takenOver ? [1, 2].filter { !begun.contains($0) } : []
      for _ in 0..<2 {
        #expect(stage.isDrained, "\(hasGivenWay)")
        #expect([probe, successor].map(\.log.history) == [own, others], "\(hasGivenWay)")
        stuck.run()
        stage.run()
      }
    }
  }
}
