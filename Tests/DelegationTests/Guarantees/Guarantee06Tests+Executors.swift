import Delegation
import Dispatch
import Testing

/// What runs where, and what it costs on an executor of one's own.
extension Guarantee06Tests {
  @Test("the first job on a subscriber's executor runs the whole handler; nobody waits for another")
  func oneJob() async {
    for reach in Reach.allCases {
      for setting in 0..<4 {
        let (isQueue, count) = (setting & 1 > 0, setting & 2 > 0 ? 3 : 1)
        let (stage, lane, places) = (Stage(), Lane("subscriber's"), Recorder<String>())
        let own: any TaskExecutor = isQueue ? DispatchQueueExecutor(lane.queue) : lane
        for probe in Probe.many(count) {
          stage.hub.subscribe(
            probe, to: Listener.self, hold: .strongly, on: probe.name == "\(count / 2)" ? own : nil)
        }
        lane.queue.suspend()
        let call = stage.start { hub in
          await reach(hub, suspending: false) { _ in places.record(Lane.current) }
          await hub.drain()
        }
        #expect(!places.history.contains("subscriber's"))
        // What has come by now is run, and nothing that comes after that.
        let isSuspended = Gate()
        lane.queue.async {
          lane.queue.suspend()
          isSuspended.arrive()
        }
        lane.queue.resume()
        await isSuspended.arrivals()
        stage.run()
        #expect(places.history.count { $0 == "subscriber's" } == 1, "\(reach), \(count)")
        #expect(call.result != nil, "\(reach), \(count)")
        // Those of a queue cannot be counted.
        if !isQueue { #expect(lane.jobs == 1, "\(reach), \(count)") }
        lane.queue.resume()
      }
    }
  }

  @Test("many subscribers on one executor cost one job for many", arguments: [false, true])
  func oneJobForMany(awaits: Bool) async {
    let (hub, lane) = (DelegateHub(), Lane("shared"))
    let probes = hub.cast(1_000, on: lane)
    lane.hold(.suspended)
    for number in 0..<3 {
      if awaits {
        hub.listeners.notify { probe in await probe.note(number) }
      } else {
        hub.listeners.notify { $0.log.record(number) }
      }
    }
    // The hub's own worker has sent them all when it has come to the last one, who lives elsewhere.
    let last = Probe("last")
    hub.subscribe(last, to: Listener.self)
    hub.listeners.notify { if $0.name == "last" { $0.log.record(1) } }
    #expect(await last.log.history(of: 1) == [1])
    lane.release()
    await hub.drain()
    #expect(probes.allSatisfy { $0.log.history == [0, 1, 2] })
    #expect(lane.jobs < 50, "for 1,000 subscribers")
  }

  @Test("on an executor that isolates tasks to itself the handler runs all the same")
  func isolating() async {
    for reach in Reach.allCases {
      let (hub, places) = (DelegateHub(), Recorder<String>())
      for probe in Probe.many(3) {
        let executor = probe.name == "1" ? LaneExecutor(Lane("subscriber's")) : nil
        hub.subscribe(probe, to: Listener.self, hold: .strongly, on: executor)
      }
      await reach(hub) { places.record("\($0.name) \(Lane.current)") }
      await hub.drain()
      #expect(Set(places.history) == ["0 pool", "1 subscriber's", "2 pool"], "\(reach)")
    }
  }

  /// A combiner that notes where it runs.
  private struct Witness: Combiner {
    let seen: Recorder<String>

    mutating func begin(asking count: Int) -> Bool? {
      seen.record("begins \(Lane.current)")
      return nil
    }
    mutating func receive(_ response: Bool, from position: Int) -> Bool? {
      seen.record("counts \(Lane.current)")
      return nil
    }
    mutating func finish() -> Bool {
      seen.record("ends \(Lane.current)")
      return true
    }
  }

  @Test("handlers, counts and deadlines run where they should", arguments: VisitorKind.allCases)
  func places(caller: VisitorKind) async {
    for setting in 0..<16 {
      let (isHubs, isOwn, isLate) = (setting & 1 > 0, setting & 2 > 0, setting & 4 > 0)
      let (seen, gate) = (Recorder<String>(), Gate())
      let hub = DelegateHub(
        .init(
          executor: isHubs ? Lane("hub's") : nil, onIncident: { _ in }))
      hub.cast(
        setting & 8 > 0 ? 3 : 1, on: isOwn ? Lane("subscriber's") : nil)
      await Visitor(caller).perform { _ in
        _ = await hub.listeners.vote(
          by: Witness(seen: seen), within: isLate ? .milliseconds(5) : .seconds(3600),
          absent: .abstains
        ) { _ in
          if isLate { await gate.pass() }
          seen.record("handles \(Lane.current)")
          await Task.yield()
          seen.record("handles \(Lane.current)")
          return true
        }
        seen.record("goes on \(Lane.current)")
      }.value
      let callers = [.plain: "pool", .mainActor: "main"][caller] ?? "caller's"
      // In the caller's task, which an actor's runs on no executor of its own.
      let inTask = caller == .actor || caller == .mainActor ? "pool" : callers
      let handlers = isOwn ? "subscriber's" : isHubs ? "hub's" : "pool"
      var expected: Set = ["begins \(inTask)", "goes on \(callers)"]
      expected.formUnion(
        isLate
          ? ["ends \(inTask)"] : ["handles \(handlers)", "counts \(handlers)", "ends \(handlers)"])
      #expect(Set(seen.history) == expected, "\(setting)")
      gate.open()
      await hub.drain()
    }
  }

  @Test("by a test's clock a deadline is the hub's executor's, and so is a call from elsewhere")
  func byATestsClock() {
    let (stage, callers) = (Stage(), ManualExecutor())
    stage.hub.cast(1)
    let vote = callers.start { [hub = stage.hub] in await hub.listeners.vote { _ in true } }
    // Nothing happens before one of them is told to run.
    while vote.value == nil { #expect(stage.executor.run() + callers.run() > 0) }
    #expect(vote.value == true)
  }
}

extension Listener {
  fileprivate func note(_ number: Int) async { log.record(number) }
}
