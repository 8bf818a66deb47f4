import Delegation
import Dispatch
import Testing

@Suite("Executors", .inTurn)
struct ExecutorTests {
  @Test(
    "handlers run on the subscription's executor, or the hub's", arguments: Reach.allCases, 0..<4)
  func places(reach: Reach, setting: Int) async {
    let (hubs, own) = (setting & 1 == 0 ? nil : "hub", setting & 2 == 0 ? nil : "own")
    func executor(_ name: String?) -> DispatchQueueExecutor? {
      name.map { DispatchQueueExecutor(MarkedQueue.make($0)) }
    }
    let hub = DelegateHub(.init(executor: executor(hubs)))
    let probes = Probe.many(3)
    for probe in probes {
      hub.subscribe(probe, to: Listener.self, on: probe.name == "1" ? executor(own) : nil)
    }
    let places = Recorder<(name: String, queue: String)>()
    let place = await Task(executorPreference: executor("caller's")) {
      await reach(hub) { places.record(($0.name, MarkedQueue.current)) }
      return MarkedQueue.current
    }.value
    #expect(place == "caller's")
    await hub.drain()
    // What runs in the caller's task runs on the executor that the task prefers.
    let queues = Dictionary(grouping: places.history, by: \.name)
      .mapValues { $0.map { $0.queue == "caller's" ? "elsewhere" : $0.queue } }
    let times = reach.isAsynchronous ? 2 : 1
    let others = Array(repeating: hubs ?? "elsewhere", count: times)
    let expected = own.map { Array(repeating: $0, count: times) } ?? others
    #expect(queues == ["0": others, "1": expected, "2": others])
    // So it is for one that is alone.
    hub.unsubscribe(probes[0])
    hub.unsubscribe(probes[2])
    places.clear()
    await reach(hub, suspending: false) { places.record(($0.name, MarkedQueue.current)) }
    #expect(places.history.map(\.queue) == [own ?? hubs ?? "elsewhere"])
  }

  @Test("on a concurrent queue each handles one notification at a time, in order")
  func order() async {
    let hub = DelegateHub()
    let queue = DispatchQueueExecutor(DispatchQueue(label: "wide", attributes: .concurrent))
    let probes = Probe.many(8)
    for (number, probe) in probes.enumerated() {
      hub.subscribe(probe, to: Listener.self, on: number % 2 == 0 ? queue : nil)
    }
    for number in 0..<200 {
      if number % 3 == 0 {
        hub[Listener.self].notify { $0.log.record(number) }
      } else {
        hub[Listener.self].notify { probe in
          await Task.yield()
          probe.log.record(number)
        }
      }
    }
    await hub.drain()
    for probe in probes { #expect(probe.log.history == Array(0..<200)) }
  }

  @Test("executors of queues that come and go leave nothing behind")
  func noLeak() async {
    let hub = DelegateHub()
    func passBy() -> Obituary {
      let probe = Probe()
      let executor = DispatchQueueExecutor(DispatchQueue(label: "passing"))
      hub.subscribe(probe, to: Listener.self, on: executor)
      hub.unsubscribe(probe)
      return Obituary(of: executor)
    }
    for _ in 0..<100 { await passBy().death() }
  }

  /// A subscriber whose handler hangs on the first of two executors, and two notifications that wait behind it.
  private struct Changing {
    let hubs = ManualExecutor()
    let hub: DelegateHub
    let executors = [ManualExecutor(), ManualExecutor()]
    let probe = Probe()
    let gate = Gate()

    init(mailbox: DelegateHub.MailboxPolicy = .unbounded) {
      hub = DelegateHub(on: hubs)
      hub.subscribe(probe, to: Listener.self, mailbox: mailbox, on: executors[0])
      hub[Listener.self].notify { [gate] _ in await gate.pass() }
      for number in 1...2 { hub[Listener.self].notify { $0.log.record(number) } }
      run(executors[0])
    }

    /// Runs what is to run where the hub says, and then on another executor.
    func run(_ executor: ManualExecutor) {
      hubs.run()
      executor.run()
    }
  }

  @Test(
    "what waits is served on the new one when the handler has ended",
    arguments: [DelegateHub.MailboxPolicy.unbounded, .dropOldest(limit: 5)])
  func whileHandling(mailbox: DelegateHub.MailboxPolicy) {
    let scene = Changing(mailbox: mailbox)
    scene.hub.subscribe(scene.probe, to: Listener.self, mailbox: mailbox, on: scene.executors[1])
    scene.hub[Listener.self].notify { $0.log.record(3) }
    scene.gate.open()
    scene.run(scene.executors[0])
    #expect(scene.probe.log.history == [])
    scene.run(scene.executors[1])
    #expect(scene.probe.log.history == [1, 2, 3])
    scene.run(scene.executors[0])
    #expect(scene.executors.map(\.pending) == [0, 0])
  }

  @Test("a change to the hub's serves what waits there, and back again")
  func toTheHubs() {
    let scene = Changing()
    scene.hub.subscribe(scene.probe, to: Listener.self, on: scene.hubs)
    scene.gate.open()
    scene.executors[0].run()
    #expect(scene.probe.log.history == [])
    // Before it is served there, it changes once more.
    scene.hub.subscribe(scene.probe, to: Listener.self, on: scene.executors[1])
    scene.hubs.run()
    #expect(scene.probe.log.history == [])
    scene.run(scene.executors[1])
    #expect(scene.probe.log.history == [1, 2])
  }

  @Test("the same one, or none named, changes nothing", arguments: [true, false])
  func same(isNamed: Bool) {
    let scene = Changing()
    scene.hub.subscribe(scene.probe, to: Listener.self, on: isNamed ? scene.executors[0] : nil)
    scene.gate.open()
    scene.executors[0].run()
    if isNamed { scene.run(scene.executors[0]) }
    #expect(scene.probe.log.history == [1, 2])
  }

  @Test("a subscriber leaves its executor by ending its subscription and subscribing anew")
  func leaving() async {
    let (hub, probe, places) = (DelegateHub(), Probe(), Recorder<String>())
    let own = DispatchQueueExecutor(MarkedQueue.make("own"))
    let subscription = hub.subscribe(probe, to: Listener.self, on: own)
    hub.subscribe(probe, to: Listener.self, on: nil)
    await hub[Listener.self].notifyAndWait { _ in places.record(MarkedQueue.current) }
    subscription.cancel()
    hub.subscribe(probe, to: Listener.self)
    await hub[Listener.self].notifyAndWait { _ in places.record(MarkedQueue.current) }
    #expect(places.history == ["own", "elsewhere"])
  }

  @Test("one that is never idle is served on the new one, though more comes all the time")
  func neverIdle() {
    let scene = Changing()
    scene.gate.open()
    let (hub, second) = (scene.hub, scene.executors[1])
    hub[Listener.self].notify { probe in
      hub.subscribe(probe, to: Listener.self, on: second)
      for number in 3...20 { hub[Listener.self].notify { $0.log.record(number) } }
    }
    for _ in 0..<3 { scene.run(scene.executors[0]) }
    scene.hubs.run()
    #expect(scene.probe.log.history == [1, 2])
    scene.run(second)
    #expect(scene.probe.log.history == Array(1...20))
  }
}
