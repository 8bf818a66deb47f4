import Delegation
import Testing

/// A place has one subscription at a time, which begins when the one before has handled what it has taken.
extension Guarantee05Tests {
  /// A subscriber whose handler hangs, with two notifications behind it, and one that takes its place.
  private struct Scene {
    let stage = Stage()
    let gate = Gate()
    let probe = Probe("former")
    let other = Probe("other")
    let former: DelegateHub.Subscription
    let newer: DelegateHub.Subscription
    let isAnother: Bool

    var successor: Probe { isAnother ? other : probe }
    var histories: [[Int]] { [probe, other].map(\.log.history) }

    init(isAnother: Bool, isBegun: Bool = true, on executor: (any TaskExecutor)? = nil) {
      self.isAnother = isAnother
      former = stage.hub.subscribe(probe, to: Listener.self, priority: 1, id: "seat", on: executor)
      stage.listeners.notify { [gate] probe in
        probe.log.record(1)
        await gate.pass()
        probe.log.record(2)
      }
      stage.listeners.notify { $0.log.record(3) }
      if isBegun { stage.run() }
      newer = stage.hub.subscribe(
        isAnother ? other : probe, to: Listener.self, id: isAnother ? "seat" : nil,
        mailbox: .unbounded)
      stage.listeners.notify { $0.log.record(4) }
      stage.run()
    }
  }

  @Test(
    "the former one's handler ends first; questions go to the new one at once",
    arguments: [false, true])
  func following(isAnother: Bool) {
    let scene = Scene(isAnother: isAnother)
    #expect(scene.former.isActive == !isAnother && (scene.former == scene.newer) == !isAnother)
    #expect(scene.newer.isActive && scene.stage.listeners.count == 1)
    #expect(scene.histories == [[1], []])
    #expect(
      scene.stage.perform { await $0.listeners.ask(combining: .all()) { $0.name } } == [
        scene.successor.name
      ])
    #expect(scene.stage.perform { await $0.drain(within: .zero) }?.isEmpty == false)
    scene.stage.open(scene.gate)
    #expect(scene.histories == (isAnother ? [[1, 2], [3, 4]] : [[1, 2, 3, 4], []]))
    #expect(scene.stage.perform { await $0.drain() }?.isEmpty == true)
  }

  enum Ending: CaseIterable { case cancelled, unsubscribed }

  @Test(
    "if the former one hangs, to cancel it lets the new one go on, once", arguments: Ending.allCases
  )
  func letGo(ending: Ending) {
    let scene = Scene(isAnother: true)
    let third = Probe("third")
    func end() {
      if ending == .cancelled {
        scene.former.cancel()
      } else {
        scene.stage.hub.unsubscribe(scene.probe)
      }
      scene.stage.run()
    }
    let second = Gate()
    end()
    #expect(scene.histories == [[1], [3, 4]] && scene.newer.isActive)
    scene.stage.listeners.notify { _ in await second.pass() }
    scene.stage.run()
    scene.stage.hub.subscribe(third, to: Listener.self, id: "seat")
    scene.stage.listeners.notify { $0.log.record(5) }
    end()
    // The first one's end is none of the second one's.
    scene.stage.open(scene.gate)
    #expect(scene.histories == [[1, 2], [3, 4]] && third.log.history == [])
    scene.stage.open(second)
    #expect(third.log.history == [5])
  }

  @Test("one that never began is passed by in a chain; its end lets nobody go on")
  func neverBegun() {
    for isCancelled in [false, true] {
      let (scene, third) = (Scene(isAnother: true), Probe("third"))
      scene.stage.hub.subscribe(third, to: Listener.self, id: "seat")
      if isCancelled { scene.newer.cancel() }
      scene.stage.run()
      #expect(scene.histories == [[1], []] && third.log.history == [])
      scene.stage.open(scene.gate)
      #expect(scene.histories == [[1, 2], []] && third.log.history == [3, 4])
      #expect(scene.stage.listeners.count == 1)
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

  @Test(
    "a handler that replaces its own subscription, and waits for what it posts, does not wait for itself"
  )
  func within() {
    for isDrain in [false, true] {
      let (stage, probe, other) = (Stage(), Probe("probe"), Probe("other"))
      stage.hub.subscribe(probe, to: Listener.self, id: "seat")
      stage.listeners.notify { [hub = stage.hub] _ in
        hub.subscribe(other, to: Listener.self, id: "seat")
        if isDrain {
          hub.listeners.notify { $0.log.record(2) }
          await hub.drain()
        } else {
          let outcome = await hub.listeners.notifyAndWait { $0.log.record(2) }
          #expect(outcome.addressed == 1 && outcome.handled == 0)
        }
        probe.log.record(1)
      }
      stage.run()
      #expect(probe.log.history == [1] && other.log.history == [2], "\(isDrain)")
    }
  }

  @Test("one that follows and dies holds no poster, though the former one hangs")
  func dies() {
    let (stage, gate, probe) = (Stage(), Gate(), Probe())
    var other: Probe? = Probe()
    stage.hub.subscribe(probe, to: Listener.self, id: "seat")
    stage.listeners.notify { _ in await gate.pass() }
    stage.run()
    stage.hub.subscribe(other!, to: Listener.self, id: "seat")
    other = nil
    let act = stage.start { await $0.listeners.notifyAndWait { _ in } }
    stage.run()
    #expect(act.result?.missed == 1 && stage.listeners.isEmpty)
    stage.open(gate)
    #expect(stage.perform { await $0.drain() }?.isEmpty == true)
  }

  @Test(
    "one that follows a stream waits for what a loop has in hand, and the hub may go",
    arguments: [false, true])
  func stream(isReleased: Bool) async {
    let (executor, log) = (ManualExecutor(), Recorder<Int>())
    var events: Events<Int>? = Events<Int>(of: DelegateHub(on: executor))
    let stream = events!.registry.stream(id: "seat")
    var iterator: EventStream<Int>.Iterator? = stream.makeAsyncIterator()
    events!.post(1)
    executor.run()
    #expect(await iterator!.next() == 1)
    events!.post(2)
    let token = events!.registry.observe(id: "seat") { log.record($0) }
    events!.post(3)
    executor.run()
    #expect(log.history == [])
    if isReleased { events = nil }
    executor.run()
    iterator = nil
    executor.run()
    #expect(log.history == [2, 3])
    #expect(token.isActive == !isReleased)
    withExtendedLifetime(stream) {}
  }

  @Test("a stream that follows waits for the former one's handler")
  func followingStream() async {
    let (executor, gate, log) = (ManualExecutor(), Gate(), Recorder<Int>())
    let events = Events<Int>(of: DelegateHub(on: executor))
    events.registry.observe(id: "seat") { _ in await gate.pass() }
    for number in 1...3 { events.post(number) }
    executor.run()
    let stream = events.registry.stream(id: "seat")
    let call = executor.start { for await event in stream { log.record(event) } }
    executor.run()
    #expect(log.history == [])
    gate.open()
    executor.run()
    #expect(log.history == [2, 3])
    stream.subscription.cancel()
    executor.run()
    withExtendedLifetime(call) {}
  }

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
    #expect(subscribe() != first)
  }

  @Test("a token of an object ends what it has at the place, however often it was replaced")
  func tokensOfAChain() {
    for ending in Ending.allCases {
      let (stage, gate, probe, other) = (Stage(), Gate(), Probe("probe"), Probe("other"))
      let first = stage.hub.subscribe(probe, to: Listener.self, id: "seat")
      stage.listeners.notify { _ in await gate.pass() }
      stage.run()
      for priority in 1...3 { stage.hub.subscribe(probe, to: Listener.self, priority: priority) }
      let newer = stage.hub.subscribe(other, to: Listener.self, id: "seat")
      stage.listeners.notify { $0.log.record(1) }
      stage.run()
      #expect(!first.isActive && newer.isActive && other.log.history == [])
      if ending == .cancelled { first.cancel() } else { stage.hub.unsubscribe(probe) }
      stage.run()
      #expect(newer.isActive && other.log.history == [1])
      stage.open(gate)
    }
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
