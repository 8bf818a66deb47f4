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

  @Test(
    "no question or drain waits for one that ends, or is replaced, while its executor is busy",
    arguments: Reach.asking)
  func endsWhileAsked(reach: Reach) {
    let successor = Probe("successor")
    // How it ends, and who is called in its place.
    typealias End = (Stage, DelegateHub.Subscription, inout Probe?) -> Void
    let ends: [(String, End, String?)] = [
      ("cancelled", { _, it, _ in it.cancel() }, nil),
      ("finished", { _, it, _ in it.finish() }, nil),
      (
        "replaced",
        { stage, _, _ in
          stage.hub.subscribe(successor, to: Listener.self, id: 1, on: stage.executor)
        }, "successor"
      ),
      (
        "subscribed again",
        { stage, it, probe in
          it.cancel()
          stage.hub.subscribe(probe!, to: Listener.self)
        }, nil
      ),
      (
        "found dead",
        { stage, _, probe in
          probe = nil
          stage.listeners.notify { _ in }
        }, nil
      ),
    ]
    for (name, end, heir) in ends {
      for others in 0...2 {
        let (stage, stuck, called) = (Stage(), ManualExecutor(), Recorder<String>())
        stage.hub.cast(others)
        var probe: Probe? = Probe("probe")
        let subscription = stage.hub.subscribe(
          probe!, to: Listener.self, priority: 1, id: 1, on: stuck)
        let call = Ambient.$request.withValue("r1") {
          stage.start { hub in
            await reach.call(hub) { called.record("\($0.name) \(Ambient.request)") }
          }
        }
        #expect(call.result == nil)
        end(stage, subscription, &probe)
        stage.run()
        let expected = (0..<others).map { "\($0)" } + [heir].compactMap(\.self)
        for _ in 0..<2 {
          #expect(call.result != nil && stage.isDrained, "\(name), \(others) others")
          #expect(Set(called.history) == Set(expected.map { "\($0) r1" }), "\(name)")
          #expect(called.count == expected.count)
          stuck.run()
          stage.run()
        }
        #expect(stage.hub.statistics().questions.asked == expected.count)
      }
    }
  }

  @Test("if its executor comes just then, it answers or is absent, and nothing is left")
  func endsAsItsExecutorComes() throws {
    try exploreSchedules(seeds: 0..<UInt64(Effort.count(3_000))) { executor in
      let (hub, lane) = (DelegateHub(on: executor, clock: executor.clock), executor.makeLane())
      let answers = Recorder<String>()
      let tokens = Probe.many(3).map {
        hub.subscribe($0, to: Listener.self, id: $0.name, hold: .strongly, on: lane)
      }
      await withDiscardingTaskGroup { group in
        group.addTask {
          let replies = await hub.listeners.collect { probe in
            await Task.yield()
            return probe.name
          }
          for reply in replies { answers.record((try? reply.result.get()) ?? "none") }
        }
        group.addTask { tokens[0].cancel() }
        group.addTask { hub.subscribe(Probe("1"), to: Listener.self, id: "1", hold: .strongly) }
        group.addTask { tokens[2].finish() }
      }
      let isEmpty = await hub.drain().isEmpty
      let questions = hub.statistics().questions
      try #require(isEmpty && questions.answered == answers.count && questions.answering == 0)
      try #require(Set(answers.history).count == answers.count && answers.history.contains("1"))
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

  @Test("what waits for an executor that stands still does not keep the hub")
  func standingHub() async {
    let lifetimes = Lifetimes()
    let executor = ManualExecutor()
    var events: Events<Int>? = Events<Int>()
    weak let hub = events?.hub
    guard let stream = events?.registry.stream() else { return }
    let loop = Task { await stream.reduce(into: []) { $0.append($1) } }
    let kept = Hearer { [tracked = lifetimes.make()] _ in _ = tracked }
    func subscribe(_ kept: consuming Hearer) {
      hub?.subscribe(kept, to: (any Hearing).self, hold: .strongly)
    }
    subscribe(consume kept)
    let (ended, waiting) = (Hearer(), Recorder<Int>())
    let open = Hearer { waiting.record($0) }
    let token = hub?.subscribe(ended, to: (any Hearing).self, on: executor)
    let openToken = hub?.subscribe(open, to: (any Hearing).self, on: executor)
    hub?[(any Hearing).self].notify { try await $0.hear(1) }
    _ = await hub?.drain(within: .milliseconds(20))
    token?.cancel()
    events = nil
    #expect(await loop.value == [])
    while hub != nil || lifetimes.alive > 0 { await Task.yield() }
    // What was posted for the other one is delivered all the same, and then its subscription ends.
    #expect(openToken?.isActive == true)
    while openToken?.isActive == true {
      executor.run()
      await Task.yield()
    }
    #expect(waiting.events == [1])
    withExtendedLifetime((ended, open)) {}
  }
}
