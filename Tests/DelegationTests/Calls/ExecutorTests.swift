import Delegation
import Dispatch
import Testing

@Suite("Executors", .inTurn)
struct ExecutorTests {
  @Test(
    "handlers run on the subscription's executor, or else on the hub's, before and after suspending; the caller goes on where it was",
    arguments: Reach.allCases, 0..<4)
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
    let queues = Dictionary(grouping: places.history, by: \.name).mapValues { $0.map(\.queue) }
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

  @Test("one whose own executor stands still holds up nobody else")
  func standingStill() {
    let stage = Stage()
    let still = ManualExecutor()
    let probes = Probe.many(10)
    for (number, probe) in probes.enumerated() {
      stage.hub.subscribe(probe, to: Listener.self, on: number == 4 ? still : nil)
    }
    for number in 0..<100 { stage.hub[Listener.self].notify { $0.log.record(number) } }
    let ask = stage.start { hub in
      await hub[Listener.self].ask(combining: .all()) { probe in
        probe.log.record(100)
        return probe.name
      }
    }
    let vote = stage.start { hub in
      await hub[Listener.self].vote(by: .atLeast(9)) { _ in true }
    }
    stage.run()
    for (number, probe) in probes.enumerated() {
      #expect(probe.log.history == (number == 4 ? [] : Array(0...100)))
    }
    #expect(vote.result == true)
    #expect(ask.result == nil)
    while still.pending > 0 {
      still.run()
      stage.run()
    }
    #expect(ask.result == probes.map(\.name))
    #expect(probes[4].log.history.filter { $0 < 100 } == Array(0..<100))
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  @Test("one that blocks its own queue holds up nobody else")
  func blockedQueue() async {
    let hub = DelegateHub()
    let blockade = Blockade()
    let probes = Probe.many(5)
    for probe in probes {
      hub.subscribe(
        probe, to: Listener.self,
        on: probe.name == "2" ? DispatchQueueExecutor(MarkedQueue.make("blocked")) : nil)
    }
    hub[Listener.self].notify { if $0.name == "2" { blockade.enter() } }
    await blockade.entry()
    for number in 0..<50 { hub[Listener.self].notify { $0.log.record(number) } }
    for probe in probes where probe.name != "2" {
      #expect(await probe.log.history(of: 50) == Array(0..<50))
    }
    #expect(await hub[Listener.self].vote(by: .anyone) { $0.name != "2" })
    #expect(probes[2].log.history == [])
    #expect(blockade.end())
    #expect(await hub.drain().isEmpty)
    #expect(probes[2].log.history == Array(0..<50))
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

  // MARK: Executors that change

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
    "what waits is served on the new one from the running handler's end on",
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

  @Test("to subscribe again with the same one, or none named, changes nothing", arguments: [true, false])
  func same(isNamed: Bool) {
    let scene = Changing()
    scene.hub.subscribe(scene.probe, to: Listener.self, on: isNamed ? scene.executors[0] : nil)
    scene.gate.open()
    scene.executors[0].run()
    #expect(scene.probe.log.history == [1, 2])
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

  /// Does something when it is known who is asked, and before they are.
  private struct Names: Combiner {
    let prepare: @Sendable () -> Void
    private(set) var names: [String] = []

    init(_ prepare: @escaping @Sendable () -> Void) { self.prepare = prepare }

    mutating func begin(asking count: Int) -> [String]? {
      prepare()
      return nil
    }

    mutating func receive(_ name: String, from position: Int) -> [String]? {
      names.append(name)
      return nil
    }

    mutating func finish() -> [String] { names }
  }

  @Test("the only one to ask is asked on the executor that it has got meanwhile", arguments: 1...3)
  func onlyOne(form: Int) async {
    let hub = DelegateHub(.init(interceptors: form == 3 ? [Hook { await $1() }] : []))
    let (probe, places) = (Probe("only"), Recorder<String>())
    hub.subscribe(probe, to: Listener.self)
    let own = DispatchQueueExecutor(MarkedQueue.make("its own"))
    let names = Names { hub.subscribe(probe, to: Listener.self, on: own) }
    let answer =
      form == 1
      ? await hub[Listener.self].ask(combining: names) { probe in
        await Task.yield()
        places.record(MarkedQueue.current)
        return probe.name
      }
      : await hub[Listener.self].ask(combining: names) { probe in
        places.record(MarkedQueue.current)
        return probe.name
      }
    #expect(answer == ["only"])
    #expect(places.history == ["its own"])
  }

  @Test("a question in a loop asks one that has got an executor meanwhile there")
  func withinALoop() async {
    let hub = DelegateHub()
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let own = DispatchQueueExecutor(MarkedQueue.make("its own"))
    let (second, places) = (probes[1], Recorder<String>())
    let names = await hub[Listener.self].ask(combining: .all()) { probe in
      if probe.name == "0" { hub.subscribe(second, to: Listener.self, on: own) }
      places.record("\(probe.name) \(MarkedQueue.current)")
      return probe.name
    }
    #expect(names == ["0", "1", "2"])
    #expect(places.history.sorted() == ["0 elsewhere", "1 its own", "2 elsewhere"])
    await hub.drain()
    withExtendedLifetime(probes) {}
  }
}
