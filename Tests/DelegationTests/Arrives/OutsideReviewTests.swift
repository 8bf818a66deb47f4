import Delegation
import Testing

@Suite("Found by planting faults", .inTurn)
struct OutsideReviewTests {
  /// Waits until somebody has arrived at a gate, at most a minute.
  private func hasArrived(at gate: Gate) async -> Bool {
    let end = ContinuousClock.now + .seconds(60)
    while gate.arrived == 0, ContinuousClock.now < end { await Task.yield() }
    return gate.arrived > 0
  }

  @Test("an executor may run a worker within enqueue, however many wait", arguments: [false, true])
  func inline(isHubs: Bool) async {
    let hub = DelegateHub(.init(executor: isHubs ? PromptExecutor() : nil))
    hub.cast(1_000, on: isHubs ? nil : PromptExecutor())
    #expect(await hub.listeners.notifyAndWait { _ in }.handled == 1_000)
    #expect(await hub.listeners.ask(combining: .sum()) { (_) async in 1 } == 1_000)
  }

  @Test("who waits does not wait for the deinit of a replaced one", arguments: [false, true])
  func slowDeinit(isVote: Bool) async {
    let (hub, gate, blockade) = (DelegateHub(), Gate(), Blockade())
    let slow = Probe { blockade.enter() }
    hub.subscribe(consume slow, to: Listener.self, id: "place", hold: .strongly)
    hub.cast(1)
    let call = Task {
      if !isVote { return await hub.listeners.notifyAndWait { _ in await gate.pass() }.isHandled }
      return await hub.listeners.vote { _ in
        await gate.pass()
        return true
      }
    }
    await gate.arrivals(2)
    hub.subscribe(Probe(), to: Listener.self, id: "place", hold: .strongly)
    gate.open()
    #expect(await call.value)
    #expect(blockade.end())
    #expect(await hub.drain().isEmpty)
  }

  @Test("a window is not held by what is inside it, however many have been passed before")
  func window() {
    for passed in 0..<70 {
      let (stage, gate) = (Stage(), Gate())
      stage.cast(1)
      for _ in 0..<passed {
        #expect(stage.perform { await $0[Listener.self].notifyAndWait { _ in } } != nil)
      }
      let outcome = stage.perform {
        await $0[Listener.self].notifyAndWait(leaving: 1) { _ in await gate.pass() }
      }
      #expect(outcome?.handled == 0, "\(passed) passed before")
      stage.open(gate)
    }
  }

  @Test("a place whose heir has ended as well is nobody's", arguments: Reach.asking)
  func endedHeir(reach: Reach) async {
    let (hub, returned, heard) = (DelegateHub(), Gate(), Recorder<String>())
    let (first, older, heir) = (Probe("first"), Probe("older"), Probe("heir"))
    hub.subscribe(first, to: Listener.self)
    hub.subscribe(older, to: Listener.self, id: "place")
    Task {
      await reach.call(hub) { probe in
        heard.record(probe.name)
        guard probe === first else { return }
        hub.subscribe(heir, to: Listener.self, id: "place")
        hub.unsubscribe(heir)
      }
      returned.arrive()
    }
    #expect(await hasArrived(at: returned))
    if reach == .askInTurn || reach == .pass { #expect(heard.events == ["first"]) }
    withExtendedLifetime((older, heir)) {}
  }

  @Test("what is posted after the last subscriber has gone is kept for the next one")
  func replay() async {
    let events = Events<Int>(replaying: 2)
    let token = events.registry.observe { _ in }
    events.post(1)
    await events.hub.drain()
    token.cancel()
    events.post(2)
    events.post(3)
    let heard = Recorder<Int>()
    events.registry.observe { heard.record($0) }
    await events.hub.drain()
    #expect(heard.events == [2, 3])
  }

  @Test(
    "who is held strongly and ends during a handler is released with it",
    arguments: [Reach.notifyAsynchronously, .vote, .collect], [false, true])
  func release(reach: Reach, isReplaced: Bool) {
    let (stage, gate, heir) = (Stage(), Gate(), Probe("heir"))
    var probe: Probe? = Probe()
    let obituary = probe.map { Obituary(of: $0) }
    let token = probe.map {
      stage.hub.subscribe($0, to: Listener.self, id: "place", hold: .strongly)
    }
    probe = nil
    let call = stage.start { await reach.call($0) { _ in await gate.pass() } }
    #expect(gate.arrived == 1)
    if isReplaced {
      stage.hub.subscribe(heir, to: Listener.self, id: "place")
    } else {
      token?.cancel()
    }
    #expect(obituary?.isDead == false)
    stage.open(gate)
    #expect(call.result != nil && obituary?.isDead == true)
    withExtendedLifetime((token, heir)) {}
  }

  @Test("a limit holds for more than 4096 notifications that come before any is handled")
  func limit() {
    let (stage, probe) = (Stage(), Probe())
    stage.hub.subscribe(probe, to: Listener.self, mailbox: .dropOldest(limit: 3))
    for number in 1...10_000 { stage.hub[Listener.self].notify { $0.log.record(number) } }
    stage.run()
    #expect(probe.log.history == [9_998, 9_999, 10_000])
  }

  @Test("a deadline that comes before the caller has begun to wait is not missed")
  func earlyDeadline() async {
    let hub = DelegateHub(
      .with {
        $0.clock = HastyClock()
        $0.executor = PromptExecutor()
      })
    let (gate, returned) = (Gate(), Gate())
    hub.cast(1)
    Task {
      let vote = await hub[Listener.self].vote(within: .seconds(1), absent: .counts(as: false)) {
        _ in
        await gate.pass()
        return true
      }
      #expect(!vote)
      returned.arrive()
    }
    #expect(await hasArrived(at: returned))
    gate.open()
    await hub.drain()
  }
}

/// Ends each sleep at once.
private struct HastyClock: Clock {
  let minimumResolution = Duration.nanoseconds(1)
  var now: ContinuousClock.Instant { .now }
  func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {}
}
