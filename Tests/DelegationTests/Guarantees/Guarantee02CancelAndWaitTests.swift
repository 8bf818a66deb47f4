import Testing

@testable import Delegation

@Suite("Guarantee 2: removal, waiting for the handlers to end", .inTurn)
struct Guarantee02CancelAndWaitTests {
  @Test("it returns when the notification's handler has ended, and not before")
  func notification() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let gate = Gate()
    let probe = Probe()
    let subscription = hub.subscribe(probe, to: Listener.self)
    hub[Listener.self].notify() { probe in
      await gate.pass()
      probe.log.record(1)
    }
    hub[Listener.self].notify() { $0.log.record(2) }
    executor.run()
    let waiting = executor.start { await subscription.cancelAndWait() }
    #expect(!subscription.isActive)
    #expect(!waiting.isOver)
    gate.open()
    executor.run()
    #expect(waiting.isOver)
    #expect(probe.log.history == [1])
  }

  @Test("it returns when every answer has been given, and not before")
  func votes() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let gates = [Gate(), Gate()]
    let probe = Probe()
    let subscription = hub.subscribe(probe, to: Listener.self)
    let votes = gates.map { gate in
      executor.start {
        _ = await hub[Listener.self].vote() { _ in
          await gate.pass()
          return true
        }
      }
    }
    let waiting = executor.start { await subscription.cancelAndWait() }
    gates[0].open()
    executor.run()
    #expect(votes.map(\.isOver) == [true, false])
    #expect(!waiting.isOver)
    gates[1].open()
    executor.run()
    #expect(votes.map(\.isOver) == [true, true])
    #expect(waiting.isOver)
  }

  @Test("it does not wait for the handlers of others, nor for the subscriber's other protocols")
  func others() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let gate = Gate()
    let probes = Probe.many(2)
    let idle = hub.subscribe(probes[0], to: Listener.self)
    hub.subscribe(probes[0], to: Bystander.self)
    hub.subscribe(probes[1], to: Listener.self)
    hub[Bystander.self].notify() { _ in await gate.pass() }
    hub[Listener.self].notify() { if $0.name == "1" { await gate.pass() } }
    executor.run()
    #expect(gate.arrived == 2)
    #expect(executor.start { await idle.cancelAndWait() }.isOver)
    gate.open()
    executor.run()
  }

  @Test("it keeps its promise though the caller's task is cancelled")
  func cancelledCaller() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let gate = Gate()
    let probe = Probe()
    let subscription = hub.subscribe(probe, to: Listener.self)
    hub[Listener.self].notify() { _ in await gate.pass() }
    executor.run()
    let waiting = executor.start { await subscription.cancelAndWait() }
    waiting.cancel()
    executor.run()
    #expect(!waiting.isOver)
    gate.open()
    executor.run()
    #expect(waiting.isOver)
  }

  @Test("from the subscriber's own notification handler it does not wait for that handler")
  func ownNotificationHandler() async {
    let hub = DelegateHub()
    let probe = Probe()
    let subscription = hub.subscribe(probe, to: Listener.self)
    hub[Listener.self].notify() { probe in
      await Task.yield()
      await subscription.cancelAndWait()
      probe.log.record(1)
    }
    hub[Listener.self].notify() { $0.log.record(2) }
    await hub.drain()
    #expect(probe.log.history == [1])
  }

  @Test("from the subscriber's own answer it does not wait for that answer")
  func ownVoteHandler() async {
    let hub = DelegateHub()
    let probe = Probe()
    let subscription = hub.subscribe(probe, to: Listener.self)
    let answers = await hub[Listener.self].ask(combining: .all()) { probe in
      await Task.yield()
      await subscription.cancelAndWait()
      return probe.name
    }
    #expect(answers == ["probe"])
  }

  @Test("from its own handler it waits for the subscriber's other handlers all the same")
  func ownHandlerAndAnother() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let gate = Gate()
    let events = Recorder<String>()
    let probe = Probe()
    let subscription = hub.subscribe(probe, to: Listener.self)
    let vote = executor.start {
      _ = await hub[Listener.self].vote() { _ in
        await gate.pass()
        events.record("answered")
        return true
      }
    }
    hub[Listener.self].notify() { _ in
      await subscription.cancelAndWait()
      events.record("waited")
    }
    executor.run()
    #expect(events.history == [])
    gate.open()
    executor.run()
    #expect(vote.isOver)
    #expect(events.history == ["answered", "waited"])
  }

  @Test("from a vote that the subscriber's own handler awaits it does not wait for that handler")
  func nestedVote() async {
    let hub = DelegateHub()
    let (outer, inner) = (Probe("outer"), Probe("inner"))
    let subscription = hub.subscribe(outer, to: Listener.self)
    hub.subscribe(inner, to: Bystander.self)
    hub[Listener.self].notify() { outer in
      let isPermitted = await hub[Bystander.self].vote() { inner in
        await hub[Bystander.self].vote() { inner in
          await subscription.cancelAndWait()
          inner.log.record(1)
          return true
        }
      }
      outer.log.record(isPermitted ? 2 : -2)
    }
    await hub.drain()
    #expect(inner.log.history == [1])
    #expect(outer.log.history == [2])
  }

  @Test(
    "handlers that cancel each other in a ring, and wait, all go on",
    arguments: [2, 3, 5], [false, true])
  func ring(length: Int, asVote: Bool) async {
    for _ in rounds(20) {
      let hub = DelegateHub()
      let gate = Gate()
      let probes = Probe.many(length)
      let subscriptions = probes.map { hub.subscribe($0, to: Listener.self) }
      let handler: @Sendable (any Listener) async -> Bool = { probe in
        await gate.pass()
        await subscriptions[(Int(probe.name)! + 1) % length].cancelAndWait()
        probe.log.record(1)
        return true
      }
      async let vote = asVote ? hub[Listener.self].vote(handler) : false
      if !asVote { hub[Listener.self].notify() { _ = await handler($0) } }
      await gate.arrivals(length)
      gate.open()
      #expect(await vote == asVote)
      await hub.drain()
      #expect(probes.map(\.log.history) == Array(repeating: [1], count: length))
    }
  }

  @Test("handlers of two hubs that cancel each other, and wait, both go on")
  func twoHubs() {
    let executor = ManualExecutor()
    let hubs = [DelegateHub(on: executor), DelegateHub(on: executor)]
    let gate = Gate()
    let probes = Probe.many(2)
    let subscriptions = zip(hubs, probes).map { $0.subscribe($1, to: Listener.self) }
    for (hub, other) in zip(hubs, subscriptions.reversed()) {
      hub[Listener.self].notify() { probe in
        await gate.pass()
        await other.cancelAndWait()
        probe.log.record(1)
      }
    }
    executor.run()
    gate.open()
    executor.run()
    #expect(probes.map(\.log.history) == [[1], [1]])
  }

  @Test(
    "it waits for the handlers of an ended subscription of the same object, too",
    arguments: Reach.allCases.filter(\.isAsynchronous))
  func subscribedAgain(reach: Reach) {
    let (stage, gate) = (Stage(), Gate())
    let probe = Probe()
    let first = stage.hub.subscribe(probe, to: Listener.self)
    _ = stage.start { hub in
      await reach.call(hub) { _ in await gate.pass() }
      return 0
    }
    first.cancel()
    let second = stage.hub.subscribe(probe, to: Listener.self)
    let wait = stage.start { _ in
      await second.cancelAndWait()
      return true
    }
    #expect(wait.result == nil)
    stage.open(gate)
    #expect(wait.result == true)
    #expect(first.node.topic.state.withLock { $0.endings.nodes.isEmpty })
  }

  @Test("it does not wait for those of another object, nor of another protocol")
  func othersSubscribedAgain() {
    let (stage, gate) = (Stage(), Gate())
    let (probe, other) = (Probe(), Probe("other"))
    stage.hub.subscribe(other, to: Listener.self)
    stage.hub.subscribe(probe, to: Bystander.self)
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.hub[Bystander.self].notify() { _ in await gate.pass() }
    stage.run()
    stage.hub.unsubscribe(other)
    stage.hub.unsubscribe(probe)
    let wait = stage.start { [probe] hub in
      await hub.subscribe(probe, to: Listener.self).cancelAndWait()
      return true
    }
    #expect(wait.result == true)
    stage.open(gate)
  }

  @Test("once it has returned, amid a storm, nothing runs on the subscriber any more")
  func storm() async {
    for _ in rounds(30) {
      let hub = DelegateHub()
      let violations = Recorder<String>()
      let probes = Probe.many(8)
      let freed = probes.map { _ in Gate() }
      let subscriptions = probes.map { hub.subscribe($0, to: Listener.self) }
      let check: @Sendable (any Listener, String) -> Void = { probe, moment in
        if freed[Int(probe.name)!].arrived > 0 { violations.record("\(moment) of \(probe.name)") }
      }
      let handler: @Sendable (any Listener) async -> Bool = { probe in
        check(probe, "start")
        await Task.yield()
        check(probe, "end")
        return true
      }
      await withTaskGroup { group in
        group.addTask {
          for _ in 0..<20 {
            hub[Listener.self].notify() { check($0, "call") }
            hub[Listener.self].notify() { _ = await handler($0) }
            await Task.yield()
          }
        }
        group.addTask { for _ in 0..<20 { _ = await hub[Listener.self].vote(handler) } }
        for (subscription, gate) in zip(subscriptions, freed) {
          group.addTask {
            await subscription.cancelAndWait()
            gate.arrive()
          }
        }
      }
      await hub.drain()
      #expect(violations.history == [])
    }
  }

  @Test("a handler of the former subscription does not wait for itself")
  func withinFormerSubscription() {
    let (stage, gate, probe, done) = (Stage(), Gate(), Probe(), Recorder<Bool>())
    let first = stage.hub.subscribe(probe, to: Listener.self)
    stage.hub[Listener.self].notify() { [hub = stage.hub] probe in
      await gate.pass()
      first.cancel()
      await hub.subscribe(probe, to: Listener.self).cancelAndWait()
      done.record(true)
    }
    stage.run()
    stage.open(gate)
    #expect(done.history == [true])
    withExtendedLifetime(probe) {}
  }
}
