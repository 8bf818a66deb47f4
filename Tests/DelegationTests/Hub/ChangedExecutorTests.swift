import Testing

@testable import Delegation

@Suite("Executors that change while something waits", .inTurn)
struct ChangedExecutorTests {
  /// Notes on which of two executors handlers run.
  private struct Lanes {
    let hub = DelegateHub(on: ManualExecutor())
    let lanes = [ManualExecutor(), ManualExecutor()]
    let probe = Probe()
    let gate = Gate()

    /// Lets a handler hang on the first one, and two notifications wait behind it.
    func begin(limit: DelegateHub.MailboxPolicy = .unbounded) {
      hub.subscribe(probe, to: Listener.self, mailbox: limit, on: lanes[0])
      hub[Listener.self].notify() { [gate] _ in await gate.pass() }
      for number in 1...2 { hub[Listener.self].notify() { $0.log.record(number) } }
      run()
      lanes[0].run()
    }

    /// Runs what is to run where the hub says.
    func run() {
      (hub.configuration.executor as? ManualExecutor)?.run()
    }
  }

  @Test(
    "what waits is served on the new one from the running handler's end on",
    arguments: [DelegateHub.MailboxPolicy.unbounded, .dropOldest(limit: 5)])
  func whileHandling(policy: DelegateHub.MailboxPolicy) {
    let scene = Lanes()
    scene.begin(limit: policy)
    scene.hub.subscribe(scene.probe, to: Listener.self, mailbox: policy, on: scene.lanes[1])
    scene.hub[Listener.self].notify() { $0.log.record(3) }
    scene.run()
    scene.gate.open()
    scene.lanes[0].run()
    scene.run()
    #expect(scene.probe.log.history == [])
    scene.lanes[1].run()
    #expect(scene.probe.log.history == [1, 2, 3])
    scene.lanes[0].run()
    #expect(scene.hub.activity.workers.value == 0)
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

  @Test("the only one to ask is asked on the queue that it has got meanwhile", arguments: 1...3)
  func onlyOne(form: Int) async {
    let hub = DelegateHub(.init(interceptors: form == 3 ? [Untouched()] : []))
    let probe = Probe("only")
    hub.subscribe(probe, to: Listener.self)
    let (queue, places) = (MarkedQueue.make("its own"), Recorder<String>())
    let names = Names { hub.subscribe(probe, to: Listener.self, on: queue) }
    let answer: [String]
    if form == 1 {
      answer = await hub[Listener.self].ask(combining: names) { probe in
        await Task.yield()
        places.record(MarkedQueue.current)
        return probe.name
      }
    } else {
      answer = await hub[Listener.self].ask(combining: names) { probe in
        places.record(MarkedQueue.current)
        return probe.name
      }
    }
    #expect(answer == ["only"])
    #expect(places.history == ["its own"])
  }

  private struct Untouched: DelegateHub.Interceptor {
    nonisolated(nonsending) func intercept(
      _ call: DelegateHub.HandlerCall,
      next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
    ) async -> DelegateHub.HandlerOutcome { await next() }
  }

  @Test("a question in a loop asks one that has got a queue meanwhile there")
  func withinALoop() async {
    let hub = DelegateHub()
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let queue = MarkedQueue.make("its own")
    let (second, places) = (probes[1], Recorder<String>())
    let names = await hub[Listener.self].ask(combining: .all()) { probe in
      if probe.name == "0" { hub.subscribe(second, to: Listener.self, on: queue) }
      places.record(MarkedQueue.current)
      return probe.name
    }
    #expect(names == ["0", "1", "2"])
    #expect(places.history.first == "elsewhere")
    #expect(places.history.sorted() == ["elsewhere", "elsewhere", "its own"])
    await hub.drain()
    withExtendedLifetime(probes) {}
  }

  @Test("a question is counted between its loop and the round of those that have executors")
  func countedWithinALoop() async {
    let hub = DelegateHub()
    let lane = ManualExecutor()
    let probes = Probe.many(2)
    hub.subscribe(probes[0], to: Listener.self)
    hub.subscribe(probes[1], to: Listener.self, on: lane)
    async let vote = hub[Listener.self].vote() { _ in true }
    while lane.pending == 0 { await Task.yield() }
    // The one who is sent there, and the question itself.
    #expect(hub.activity.workers.value >= 2)
    lane.run()
    #expect(await vote)
    #expect(await hub.drain().isEmpty)
  }

  @Test("a change to the hub's serves what waits there, and back again")
  func toTheHubs() {
    let scene = Lanes()
    scene.begin()
    scene.hub.subscribe(scene.probe, to: Listener.self, on: scene.hub.configuration.executor)
    scene.gate.open()
    scene.lanes[0].run()
    #expect(scene.probe.log.history == [])
    // Before it is served there, it changes once more.
    scene.hub.subscribe(scene.probe, to: Listener.self, on: scene.lanes[1])
    scene.run()
    #expect(scene.probe.log.history == [])
    scene.lanes[1].run()
    #expect(scene.probe.log.history == [1, 2])
  }

  @Test("to subscribe again with none named changes nothing")
  func unnamed() {
    let scene = Lanes()
    scene.begin()
    scene.hub.subscribe(scene.probe, to: Listener.self)
    scene.gate.open()
    scene.lanes[0].run()
    #expect(scene.probe.log.history == [1, 2])
  }

  @Test("to subscribe again with the same one changes nothing")
  func same() {
    let scene = Lanes()
    scene.begin()
    scene.hub.subscribe(scene.probe, to: Listener.self, on: scene.lanes[0])
    scene.gate.open()
    scene.lanes[0].run()
    #expect(scene.probe.log.history == [1, 2])
  }

  @Test("one that is never idle is served on the new one, though more comes all the time")
  func neverIdle() {
    let scene = Lanes()
    scene.begin()
    scene.gate.open()
    let hub = scene.hub
    hub[Listener.self].notify() { [lanes = scene.lanes] probe in
      hub.subscribe(probe, to: Listener.self, on: lanes[1])
      for number in 3...20 { hub[Listener.self].notify() { $0.log.record(number) } }
    }
    scene.run()
    scene.lanes[0].run()
    scene.run()
    scene.lanes[0].run()
    scene.run()
    #expect(scene.probe.log.history == [1, 2])
    scene.lanes[1].run()
    #expect(scene.probe.log.history == Array(1...20))
  }
}
