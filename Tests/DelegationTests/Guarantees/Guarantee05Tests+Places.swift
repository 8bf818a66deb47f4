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
}
