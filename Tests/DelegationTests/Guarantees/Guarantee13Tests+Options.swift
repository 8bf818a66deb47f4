import Delegation
import Testing

/// What an object that subscribes again names, and what it does not.
extension Guarantee13Tests {
  @Test("to name what holds already changes nothing; another option replaces, and tokens stay good")
  func tokens() {
    let (stage, probe, lane) = (Stage(), Probe(), ManualExecutor())
    func subscribe(
      priority: Int? = nil, id: String? = nil, hold: DelegateHub.Hold? = nil,
      mailbox: DelegateHub.MailboxPolicy? = nil, on executor: (any TaskExecutor)? = nil
    ) -> DelegateHub.Subscription {
      stage.hub.subscribe(
        probe, to: Listener.self, priority: priority, id: id, hold: hold, mailbox: mailbox,
        on: executor)
    }
    /// Whether the subscription is a new one, by its counts.
    func isNew(_ token: DelegateHub.Subscription) -> Bool {
      defer {
        stage.listeners.notify { _ in }
        stage.run()
        lane.run()
      }
      return token.statistics.counts.addressed == 0
    }
    let first = subscribe()
    #expect(isNew(first) && !isNew(first))
    #expect(!isNew(subscribe(priority: 0, hold: .weakly, mailbox: .unbounded)))
    let changes: [() -> DelegateHub.Subscription] = [
      { subscribe(priority: 1) }, { subscribe(id: "a") }, { subscribe(id: "b") },
      { subscribe(hold: .strongly) }, { subscribe(mailbox: .latest) }, { subscribe(on: lane) },
    ]
    for (number, change) in changes.enumerated() {
      let token = change()
      #expect(token == first && token.hashValue == first.hashValue, "\(number)")
      #expect(isNew(token) && !isNew(change()), "\(number)")
    }
    // All that was named holds.
    #expect(!isNew(subscribe(priority: 1, id: "b", hold: .strongly, mailbox: .latest, on: lane)))
    stage.hub.unsubscribe(id: "a")
    #expect(first.isActive && first.statistics.subscriber.contains("(b)"))
    #expect(Set(stage.hub.statistics().protocols[0].subscribers.map(\.subscription)) == [first])
    first.cancel()
    #expect(!first.isActive && stage.listeners.isEmpty)
    let later = subscribe()
    first.cancel()
    #expect(later != first && later.isActive)
  }

  @Test("a token of an object ends what it has at the place, however often it was replaced")
  func tokensOfAChain() {
    for isCancelled in [false, true] {
      let (stage, gate, probe, other) = (Stage(), Gate(), Probe("probe"), Probe("other"))
      let first = stage.hub.subscribe(probe, to: Listener.self, id: "seat")
      stage.listeners.notify { _ in await gate.pass() }
      stage.run()
      for priority in 1...3 { stage.hub.subscribe(probe, to: Listener.self, priority: priority) }
      let newer = stage.hub.subscribe(other, to: Listener.self, id: "seat")
      stage.listeners.notify { $0.log.record(1) }
      stage.run()
      #expect(!first.isActive && newer.isActive && other.log.history == [])
      if isCancelled { first.cancel() } else { stage.hub.unsubscribe(probe) }
      stage.run()
      #expect(newer.isActive && other.log.history == [1])
      stage.open(gate)
    }
  }

  @Test("the options that are not named go over", arguments: [false, true])
  func options(isAnother: Bool) {
    let (lane, scene) = (ManualExecutor(), Stage())
    let neighbour = Probe("neighbour")
    scene.hub.subscribe(neighbour, to: Listener.self)
    var former: Probe? = Probe("former")
    scene.hub.subscribe(
      former!, to: Listener.self, priority: 1, id: "seat", hold: .strongly,
      mailbox: .dropOldest(limit: 2), on: lane)
    var newer: Probe? = isAnother ? Probe("newer") : former
    let log = newer!.log
    scene.hub.subscribe(newer!, to: Listener.self, id: "seat")
    (former, newer) = (nil, nil)
    #expect(
      scene.listeners.subscribers.map(\.name) == [isAnother ? "newer" : "former", "neighbour"])
    for number in 1...4 { scene.listeners.notify { $0.log.record(number) } }
    scene.run()
    #expect(log.history == [])
    lane.run()
    #expect(log.history == [3, 4])
    scene.hub.unsubscribe(id: "seat")
    #expect(scene.listeners.count == 1)
  }

  @Test("a limit that is named holds for what waits; without one the former goes on")
  func limits() {
    let policies: [(DelegateHub.MailboxPolicy?, limit: Int)] = [
      (nil, 100), (.latest, 1), (.dropOldest(limit: 3), 3), (.unbounded, 100),
    ]
    for (policy, limit) in policies {
      for (newer, newerLimit) in policies {
        let (stage, gate, probe) = (Stage(), Gate(), Probe())
        stage.hub.subscribe(probe, to: Listener.self, mailbox: policy)
        stage.listeners.notify { _ in await gate.pass() }
        stage.run()
        for number in 1...9 { stage.listeners.notify { $0.log.record(number) } }
        stage.run()
        stage.hub.subscribe(probe, to: Listener.self, mailbox: newer)
        for number in 10...11 { stage.listeners.notify { $0.log.record(number) } }
        stage.run()
        stage.open(gate)
        let present = newer == nil ? limit : newerLimit
        let waiting = Array(1...9).suffix(limit).suffix(present)
        let expected = Array((waiting + [10, 11]).suffix(present))
        #expect(probe.log.history == expected, "\(policy as Any), then \(newer as Any)")
        #expect(stage.counted.dropped == 11 - expected.count)
      }
    }
  }

  @Test("what waits is served where the new one says, once the handler has ended", arguments: 0...2)
  func executors(way: Int) {
    let (hubs, lanes) = (ManualExecutor(), [ManualExecutor(), ManualExecutor()])
    let (hub, probe, gate) = (DelegateHub(on: hubs), Probe(), Gate())
    hub.subscribe(probe, to: Listener.self, on: lanes[0])
    hub.listeners.notify { _ in await gate.pass() }
    for number in 1...2 { hub.listeners.notify { $0.log.record(number) } }
    func run(_ lane: ManualExecutor) { while hubs.run() + lane.run() > 0 {} }
    run(lanes[0])
    // From outside; by way of the hub's executor; or in a handler, while more is posted.
    if way == 1 { hub.subscribe(probe, to: Listener.self, on: hubs) }
    if way == 2 {
      hub.listeners.notify { probe in
        hub.subscribe(probe, to: Listener.self, on: lanes[1])
        for number in 3...20 { hub.listeners.notify { $0.log.record(number) } }
      }
    }
    gate.open()
    if way < 2 { lanes[0].run() } else { run(lanes[0]) }
    #expect(probe.log.history == (way < 2 ? [] : [1, 2]))
    if way < 2 { hub.subscribe(probe, to: Listener.self, on: lanes[1]) }
    hubs.run()
    #expect(probe.log.history == (way < 2 ? [] : [1, 2]))
    run(lanes[1])
    #expect(probe.log.history == Array(1...(way < 2 ? 2 : 20)))
    run(lanes[0])
    #expect(lanes.map(\.pending) == [0, 0])
  }

  @Test(
    "what is only queued for an executor that stands still holds nobody", arguments: [false, true])
  func queued(isAnother: Bool) {
    let stuck = ManualExecutor()
    let (stage, probe, other) = (Stage(), Probe(), Probe())
    stage.hub.subscribe(probe, to: Listener.self, id: "seat", on: stuck)
    stage.listeners.notify { $0.log.record(1) }
    stage.run()
    stage.hub.subscribe(
      isAnother ? other : probe, to: Listener.self, id: "seat", on: stage.executor)
    stage.run()
    #expect((isAnother ? other : probe).log.history == [1])
    #expect(stage.perform { await $0.drain() }?.isEmpty == true)
    stuck.run()
    #expect((isAnother ? probe : other).log.history == [])
  }

  @Test("an object that is given an executor while a worker comes is served all the same")
  func executorWhileAWorkerComes() async {
    for _ in races(400) {
      let (hub, probe, queue) = (DelegateHub(), Probe(), MarkedQueue.make("home"))
      hub.subscribe(probe, to: Listener.self)
      let executor = DispatchQueueExecutor(queue)
      async let moved = hub.subscribe(probe, to: Listener.self, on: executor)
      for number in 0..<20 { hub.listeners.notify { $0.log.record(number) } }
      #expect(await moved.isActive)
      await hub.drain()
      #expect(probe.log.history == Array(0..<20))
    }
  }
}
