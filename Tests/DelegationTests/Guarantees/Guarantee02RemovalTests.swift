import Testing

@testable import Delegation

@Suite("Guarantee 2: removal", .inTurn)
struct Guarantee02RemovalTests {
  @Test("a removed subscriber hears nothing of what waited for it", arguments: Removal.allCases)
  func waiting(removal: Removal) async {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let probe = Probe()
    let subscription = removal.subscribe(probe, to: hub)
    for number in 0..<3 { hub[Listener.self].notify() { $0.log.record(number) } }
    #expect(subscription.isActive)
    removal.remove(probe, subscription, from: hub)
    #expect(!subscription.isActive)
    hub[Listener.self].notify() { $0.log.record(3) }
    executor.run()
    #expect(probe.log.history == [])
    #expect(hub[Listener.self].count == 0)
    #expect(hub[Listener.self].subscribers.isEmpty)
  }

  @Test(
    "a subscriber removed during a notification's fan-out is not called",
    arguments: Removal.allCases)
  func duringNotification(removal: Removal) {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let called = Recorder<String>()
    let probes = Probe.many(10)
    let subscriptions = probes.map { removal.subscribe($0, to: hub) }
    hub[Listener.self].notify() { present in
      called.record(present.name)
      for (probe, subscription) in zip(probes, subscriptions) where probe.name != present.name {
        removal.remove(probe, subscription, from: hub)
      }
    }
    executor.run()
    #expect(called.history == ["0"])
  }

  @Test("a subscriber removed during a vote is not asked", arguments: Removal.allCases)
  func duringVote(removal: Removal) {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let outcome = Recorder<[String]>()
    let probes = Probe.many(10)
    let subscriptions = probes.map { removal.subscribe($0, to: hub) }
    let vote = executor.start {
      let answers = await hub[Listener.self].ask(combining: .all()) { present in
        for (probe, subscription) in zip(probes, subscriptions) where probe.name != present.name {
          removal.remove(probe, subscription, from: hub)
        }
        return present.name
      }
      outcome.record(answers)
    }
    #expect(vote.isOver)
    #expect(outcome.history == [["0"]])
  }

  @Test(
    "a handler that has started goes on, uncancelled, when its subscriber is removed",
    arguments: Removal.allCases)
  func started(removal: Removal) async {
    let hub = DelegateHub()
    let gate = Gate()
    let probe = Probe()
    let subscription = removal.subscribe(probe, to: hub)
    hub[Listener.self].notify() { probe in
      probe.log.record(1)
      await gate.pass()
      probe.log.record(Task.isCancelled ? -2 : 2)
    }
    hub[Listener.self].notify() { $0.log.record(3) }
    await gate.arrivals()
    removal.remove(probe, subscription, from: hub)
    gate.open()
    await hub.drain()
    #expect(probe.log.history == [1, 2])
  }

  @Test(
    "an answer that is being given counts though its subscriber is removed",
    arguments: Removal.allCases)
  func answering(removal: Removal) async {
    let hub = DelegateHub()
    let gate = Gate()
    let probe = Probe()
    let subscription = removal.subscribe(probe, to: hub)
    async let vote = hub[Listener.self].vote() { _ in
      await gate.pass()
      return Task.isCancelled
    }
    await gate.arrivals()
    removal.remove(probe, subscription, from: hub)
    gate.open()
    #expect(await vote == false)
  }

  @Test("each way of removing ends what it says and nothing else", arguments: Removal.allCases)
  func extent(removal: Removal) async {
    let hub = DelegateHub()
    let probe = Probe("it")
    let neighbour = Probe("neighbour")
    let subscription = removal.subscribe(probe, to: hub)
    let elsewhere = hub.subscribe(
      probe, to: Bystander.self, id: removal == .unsubscribeByID ? "it" : nil)
    let neighbours = removal.subscribe(neighbour, to: hub)
    let apart = hub.subscribe(neighbour, to: Bystander.self)
    let other = DelegateHub()
    let far = removal.subscribe(probe, to: other)

    removal.remove(probe, subscription, from: hub)
    #expect(!subscription.isActive)
    let endsAllOfIt = removal == .unsubscribeFromEverything || removal == .unsubscribeByID
    #expect(elsewhere.isActive == !endsAllOfIt)
    #expect(neighbours.isActive == (removal != .unsubscribeAll))
    #expect(apart.isActive)
    #expect(far.isActive)

    hub[Listener.self].notify() { $0.log.record(1) }
    await hub.drain()
    hub[Bystander.self].notify() { $0.log.record(2) }
    await hub.drain()
    #expect(probe.log.history == (endsAllOfIt ? [] : [2]))
    #expect(neighbour.log.history == (removal == .unsubscribeAll ? [2] : [1, 2]))
  }

  @Test("an object that was subscribed with an id is found by the object, too")
  func identifiedByObject() async {
    let hub = DelegateHub()
    let probe = Probe()
    let first = hub.subscribe(probe, to: Listener.self, id: 1)
    let second = hub.subscribe(probe, to: Bystander.self, id: 2)
    hub.unsubscribe(probe as any Listener, from: Listener.self)
    #expect([first.isActive, second.isActive] == [false, true])
    hub.unsubscribe(probe)
    #expect([first.isActive, second.isActive] == [false, false])
  }

  @Test("an id ends the subscriptions that were made with it, and no others")
  func identified() {
    let hub = DelegateHub()
    let probes = Probe.many(2)
    let number = hub.subscribe(probes[0], to: Listener.self, id: 7)
    let text = hub.subscribe(probes[1], to: Listener.self, id: "7")
    hub.unsubscribe(id: 8)
    #expect([number.isActive, text.isActive] == [true, true])
    hub.unsubscribe(id: "7")
    #expect([number.isActive, text.isActive] == [true, false])
    hub.unsubscribe(id: 7)
    #expect([number.isActive, text.isActive] == [false, false])
  }

  @Test("removing who is not subscribed, or twice, does nothing", arguments: Removal.allCases)
  func twice(removal: Removal) async {
    let hub = DelegateHub()
    let probe = Probe("removed")
    let stays = Probe("stays")
    let subscription = removal.subscribe(probe, to: hub)
    removal.remove(probe, subscription, from: hub)
    hub.subscribe(stays, to: Listener.self)
    if removal != .unsubscribeAll { removal.remove(probe, subscription, from: hub) }
    hub.unsubscribe(probe)
    hub.unsubscribe(probe as any Bystander, from: Bystander.self)
    hub.unsubscribe(id: "nobody")
    hub.unsubscribeAll(from: Bystander.self)
    subscription.cancel()
    await subscription.cancelAndWait()
    #expect(await hub[Listener.self].ask(combining: .all()) { $0.name } == ["stays"])
  }

  @Test("an object may unsubscribe itself in its deinit")
  func inDeinit() async {
    final class Leaver: Listener, Bystander {
      let name = "leaver"
      let log = Recorder<Int>()
      let hub: DelegateHub
      init(_ hub: DelegateHub) {
        self.hub = hub
        hub.subscribe(self, to: Listener.self)
        hub.subscribe(self, to: Bystander.self)
      }
      deinit {
        hub.unsubscribe(self, from: Bystander.self)
        hub.unsubscribe(self)
      }
    }
    let hub = DelegateHub()
    let stays = Probe()
    hub.subscribe(stays, to: Listener.self)
    var leaver: Leaver? = Leaver(hub)
    let obituary = Obituary(of: leaver!)
    #expect(hub[Listener.self].count == 2)
    hub[Listener.self].notify() { $0.log.record(1) }
    leaver = nil
    await hub.drain()
    #expect(obituary.isDead)
    #expect(hub[Listener.self].count == 1)
    #expect(hub[Bystander.self].count == 0)
    #expect(stays.log.history == [1])
  }
}
