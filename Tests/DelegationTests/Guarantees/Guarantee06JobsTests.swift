import Testing

@testable import Delegation

/// What a handler costs on its subscriber's own executor.
@Suite("Guarantee 6: a handler costs one job on its executor", .inTurn)
struct Guarantee06JobsTests {
  /// What a subscriber's own executor is.
  enum Kind: CaseIterable {
    /// One for tasks.
    case tasks
    /// A dispatch queue's.
    case queue

    func executor(on lane: Lane) -> any TaskExecutor {
      switch self {
      case .tasks: LaneTaskExecutor(lane)
      case .queue: DispatchQueueExecutor(lane.queue)
      }
    }
  }

  @Test(
    "the first job there runs the whole handler, and nobody waits for another one",
    arguments: Kind.allCases, Reach.allCases)
  func oneJob(kind: Kind, reach: Reach) async {
    for count in [1, 3] {
      let stage = Stage()
      let lane = Lane("subscriber's")
      let probes = Probe.many(count)
      for probe in probes {
        // Those around it live where the hub does.
        let executor = probe.name == "\(count / 2)" ? kind.executor(on: lane) : nil
        stage.hub.subscribe(probe, to: Listener.self, on: executor)
      }
      let places = Recorder<String>()
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
      #expect(places.history.filter { $0 == "subscriber's" }.count == 1, "\(count)")
      #expect(call.result != nil, "\(count)")
      // Those of a queue cannot be counted.
      if kind == .tasks { #expect(lane.jobs == 1, "\(count)") }
      lane.queue.resume()
    }
  }

  @Test(
    "so it is where nothing is driven by hand, for callers of every kind",
    arguments: VisitorKind.allCases)
  func onThreads(caller: VisitorKind) async {
    for reach in Reach.allCases {
      let hub = DelegateHub()
      let lane = Lane("subscriber's")
      let probe = Probe()
      hub.subscribe(probe, to: Listener.self, on: LaneTaskExecutor(lane))
      await Visitor(caller).perform { _ in
        await reach(hub, suspending: false) { _ in }
      }.value
      await hub.drain()
      #expect(lane.jobs == 1, "\(reach)")
    }
  }

  /// It costs more there: a task leaves that isolation at each call of a nonisolated function.
  @Test(
    "on an executor that isolates tasks to itself the handler runs all the same",
    arguments: Reach.allCases)
  func isolating(reach: Reach) async {
    let hub = DelegateHub()
    let probes = Probe.many(3)
    for probe in probes {
      hub.subscribe(
        probe, to: Listener.self,
        on: probe.name == "1" ? LaneExecutor(Lane("subscriber's")) : nil)
    }
    let places = Recorder<String>()
    await reach(hub) { places.record("\($0.name) \(Lane.current)") }
    await hub.drain()
    #expect(Set(places.history) == ["0 pool", "1 subscriber's", "2 pool"])
  }
}
