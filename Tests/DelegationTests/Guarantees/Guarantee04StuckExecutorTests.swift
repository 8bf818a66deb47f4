import Testing

@testable import Delegation

/// With the hub's work on one executor that is driven by hand, and subscribers on another one that does not run.
@Suite("Guarantee 4: weak, with an executor of one's own that is busy, suspended or gone", .inTurn)
struct Guarantee04StuckExecutorTests {
  private let stage = Stage()
  private let stuck = ManualExecutor()

  /// Subscribes a probe to the stuck executor that dies at once.
  private func subscribeDead() -> DelegateHub.Subscription {
    stage.hub.subscribe(Probe("dead"), to: Listener.self, priority: 1, on: stuck)
  }

  @Test(
    "no call and no drain waits for the executor of a dead subscriber", arguments: Reach.allCases)
  func dead(reach: Reach) {
    // Alone, a voter is asked in the caller's task; beside others, in one of its own.
    for others in 0...2 {
      stage.hub.unsubscribeAll(from: Listener.self)
      let called = Recorder<String>()
      let probes = stage.cast(others)
      // Last: a newcomer at its address would end it.
      let subscription = subscribeDead()
      let call = stage.start { hub in
        await reach.call(hub) { called.record($0.name) }
        return await hub.drain()
      }
      #expect(call.result?.isEmpty == true, "\(others) others")
      #expect(called.history == probes.map(\.name))
      #expect(!subscription.isActive)
      #expect(subscription.statistics.counts.expired == (Reach.asking.contains(reach) ? 0 : 1))
      withExtendedLifetime(probes) {}
    }
    stuck.run()
  }

  @Test("notifyAndWait does not wait for the executor of a dead subscriber")
  func notifyAndWait() {
    let probes = stage.cast(2)
    let subscription = subscribeDead()
    let left = stage.perform { await $0[Listener.self].notifyAndWait() { $0.log.record(1) } }
    #expect(left?.isEmpty == true)
    #expect(probes.map(\.log.history) == [[1], [1]])
    #expect(subscription.statistics.counts.expired == 1)
    stuck.run()
  }

  @Test("what waits does not grow for one that died after it had been sent to its executor")
  func diesLater() {
    let lifetimes = Lifetimes()
    var probe: Probe? = Probe()
    let subscription = probe.map { stage.hub.subscribe($0, to: Listener.self, on: stuck) }
    func post() {
      let captured = lifetimes.make()
      stage.hub[Listener.self].notify() { _ in withExtendedLifetime(captured) {} }
      stage.run()
    }
    for _ in 0..<10 { post() }
    #expect(lifetimes.alive == 10)
    probe = nil
    post()
    #expect(lifetimes.alive == 0)
    #expect(subscription?.statistics.counts.expired == 11)
    #expect(subscription?.isActive == false)
    for _ in 0..<10 { post() }
    #expect(lifetimes.alive == 0)
    // The worker that was sent there will find nothing to do, and is no work left.
    #expect(stage.perform { await $0.drain().isEmpty } == true)
    stuck.run()
    #expect(stage.perform { await $0.drain().isEmpty } == true)
    #expect(subscription?.statistics.counts.expired == 11)
  }

  @Test("a wait for one that dies while its executor does not run ends with the next notification")
  func diesMeanwhile() {
    var probe: Probe? = Probe()
    let subscription = probe.map { stage.hub.subscribe($0, to: Listener.self, on: stuck) }
    let wait = stage.start { await $0[Listener.self].notifyAndWait() { _ in } }
    probe = nil
    stage.run()
    // The limit: nobody looks.
    #expect(wait.result == nil)
    stage.hub[Listener.self].notify() { _ in }
    stage.run()
    #expect(wait.result?.isEmpty == true)
    #expect(subscription?.statistics.counts.expired == 2)
    stuck.run()
  }

  @Test("one that is moved to an executor that does not run, and dies, is not sent there")
  func diesInItsHandler() {
    var probe: Probe? = Probe()
    let gate = Gate()
    let subscription = probe.map { stage.hub.subscribe($0, to: Listener.self) }
    for _ in 0..<3 { stage.hub[Listener.self].notify() { _ in await gate.pass() } }
    stage.run()
    if let probe { stage.hub.subscribe(probe, to: Listener.self, on: stuck) }
    probe = nil
    stage.open(gate)
    #expect(stage.perform { await $0.drain().isEmpty } == true)
    #expect(subscription?.statistics.counts.handled == 1)
    #expect(subscription?.statistics.counts.expired == 2)
    stuck.run()
  }

  /// Starts a call on a subscriber of the stuck executor and others, of whom it comes first.
  private func start(
    _ reach: Reach, on probe: Probe?, others: [Probe], noting called: Recorder<String>
  ) -> (subscription: DelegateHub.Subscription?, call: Stage.Act<Bool>) {
    let subscription = probe.map {
      stage.hub.subscribe($0, to: Listener.self, priority: 1, on: stuck)
    }
    let call = stage.start { hub in
      await reach.call(hub) { called.record($0.name) }
      return true
    }
    return (subscription, call)
  }

  @Test(
    "the limit: a question that was sent to an executor waits for it, though the subscriber is gone",
    arguments: [Reach.vote, .collect, .askInTurn, .pass], [true, false])
  func goneMeanwhile(reach: Reach, isCancelled: Bool) {
    var probe: Probe? = Probe()
    let others = stage.cast(1)
    let called = Recorder<String>()
    let (subscription, call) = start(reach, on: probe, others: others, noting: called)
    if isCancelled { subscription?.cancel() }
    probe = nil
    stage.run()
    #expect(call.result == nil)
    stuck.run()
    stage.run()
    #expect(call.result == true)
    #expect(called.history == ["0"])
    withExtendedLifetime(others) {}
  }

  @Test(
    "the limit: a subscription cannot be moved away from an executor that does not run, but another may take its place"
  )
  func moved() {
    let probe = Probe()
    let first = stage.hub.subscribe(probe, to: Listener.self, on: stuck)
    func post(_ number: Int) -> [Int]? {
      stage.hub[Listener.self].notify() { $0.log.record(number) }
      return stage.perform { await $0.drain(within: .zero) }?.subscribers.map(\.waiting)
    }
    #expect(post(1) == [1])
    // By another executor for the subscription.
    stage.hub.subscribe(probe, to: Listener.self, on: stage.executor)
    #expect(post(2) == [2])
    // By another subscription.
    first.cancel()
    stage.hub.subscribe(probe, to: Listener.self)
    _ = post(3)
    #expect(stage.perform { await $0.drain().isEmpty } == true)
    #expect(probe.log.history == [3])
    #expect(stage.perform { await $0[Listener.self].vote() { _ in true } } == true)
    stuck.run()
    stage.run()
    #expect(probe.log.history == [3])
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  @Test("one that ends while its worker has given way, on an executor that stands still")
  func givenWay() {
    let probe = Probe()
    let gate = Gate()
    let first = stage.hub.subscribe(probe, to: Listener.self, on: stuck)
    stage.hub[Listener.self].notify() { probe in
      await gate.pass()
      probe.log.record(1)
    }
    stage.run()
    stuck.run()
    stage.hub[Listener.self].notify() { $0.log.record(2) }
    stage.run()
    gate.open()
    while first.statistics.counts.handled == 0 { #expect(stuck.run(atMost: 1) == 1) }
    // It goes on when the executor does.
    stage.run()
    #expect(stuck.pending > 0)
    first.cancel()
    stage.hub.subscribe(probe, to: Listener.self)
    stage.hub[Listener.self].notify() { $0.log.record(3) }
    stage.run()
    #expect(probe.log.history == [1, 3])
    #expect(stage.perform { await $0.drain().isEmpty } == true)
    stuck.run()
    stage.run()
    #expect(probe.log.history == [1, 3])
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }
}
