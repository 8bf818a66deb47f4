import Testing

@testable import Delegation

@Suite("The incident hook", .inTurn)
struct IncidentHookTests {
  /// Its own threads: a hook that is called twice at a time would be found out.
  private static let pool = ThreadPool(threads: 3)

  @Test("it is called for one incident at a time, in their order, and drain waits for it")
  func inOrder() async {
    let told = Recorder<Int>()
    let running = Lock(0)
    let hub = DelegateHub(
      .init(
        executor: Self.pool,
        onIncident: { incident in
          let others = running.withLock { running in
            defer { running += 1 }
            return running
          }
          #expect(others == 0)
          told.record(Int(incident.reason) ?? -1)
          running.withLock { $0 -= 1 }
        }))
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    for round in 0..<100 {
      for number in 0..<5 {
        hub[Listener.self].notify() { _ in throw Refusal(reason: "\(round * 5 + number)") }
      }
      #expect(await hub.drain().isEmpty)
      #expect(told.history.count == (round + 1) * 5)
    }
    #expect(told.history == Array(0..<500))
    withExtendedLifetime(probe) {}
  }

  @Test("it runs on the hub's executor, on nobody's account, and after what found the incident")
  func place() {
    let told = Recorder<Bool>()
    let stage = Stage { configuration in
      configuration.onIncident = { _ in told.record(withUnsafeCurrentTask { $0 != nil }) }
    }
    let probe = Probe()
    let subscription = stage.hub.subscribe(probe, to: Listener.self)
    // Not run yet, on an executor that nobody drives.
    subscription.node.report(.slow, in: .notify)
    #expect(told.history == [])
    #expect(stage.executor.pending == 1)
    stage.run()
    #expect(told.history == [true])
    #expect(stage.executor.pending == 0)
    withExtendedLifetime(probe) {}
  }

  @Test("a hook that keeps the incidents is released with the hub, when all has been told")
  func keepsIncidents() {
    weak var kept: Recorder<DelegateHub.Incident>?
    do {
      let told = Recorder<DelegateHub.Incident>()
      kept = told
      let executor = ManualExecutor()
      let probe = Probe()
      do {
        let hub = DelegateHub {
          $0.executor = executor
          $0.onIncident = { told.record($0) }
        }
        let node = hub.subscribe(probe, to: Listener.self).node
        for _ in 0..<2 { node.report(.failed, in: .notify, error: Refusal(reason: "1")) }
      }
      #expect(told.history.isEmpty)
      executor.run()
      #expect(told.history.count == 2)
    }
    #expect(kept == nil)
  }

  @Test("what does not fit is counted in the last that waits", arguments: [0, 1, 50])
  func bounded(more: Int) {
    let told = Recorder<DelegateHub.Incident>()
    let stage = Stage { configuration in configuration.onIncident = { told.record($0) } }
    let probe = Probe()
    let node = stage.hub.subscribe(probe, to: Listener.self).node
    let capacity = IncidentReporter.capacity
    // As the hook's documentation says.
    #expect(capacity == 256)
    for number in 0..<(capacity + more) {
      node.report(.failed, in: .notify, error: Refusal(reason: "\(number)"))
    }
    stage.run()
    #expect(told.history.map(\.reason) == (0..<capacity).map { "\($0)" })
    #expect(told.history.map(\.leftOut).dropLast().allSatisfy { $0 == 0 })
    #expect(told.history.last?.leftOut == more)
    if more > 0 {
      #expect(
        told.history.last?.description.hasSuffix(" (\(more) more incidents left out)") == true)
    }
    // There is room again, and what comes now is told.
    node.report(.failed, in: .notify, error: Refusal(reason: "next"))
    stage.run()
    #expect(told.history.last?.reason == "next")
    #expect(told.history.last?.leftOut == 0)
    withExtendedLifetime(probe) {}
  }

  @Test("between two incidents the executor comes to its other work")
  func givesWay() {
    let events = Recorder<String>()
    let stage = Stage { configuration in
      let executor = configuration.executor
      configuration.onIncident = { incident in
        events.record(incident.reason)
        guard incident.reason == "first" else { return }
        Task.detached(executorPreference: executor) { events.record("other work") }
      }
    }
    let probe = Probe()
    let node = stage.hub.subscribe(probe, to: Listener.self).node
    for reason in ["first", "second"] {
      node.report(.failed, in: .notify, error: Refusal(reason: reason))
    }
    stage.run()
    #expect(events.history == ["first", "other work", "second"])
    withExtendedLifetime(probe) {}
  }

  @Test("only one about a full mailbox says that notifications were dropped")
  func droppedByKind() async {
    let told = Recorder<DelegateHub.Incident>()
    let hub = DelegateHub(.init(onIncident: { told.record($0) }))
    let probe = Probe()
    let node = hub.subscribe(probe, to: Listener.self).node
    node.report(.failed, in: .vote, error: Refusal())
    node.report(.dropped, in: .notify, dropped: 3)
    node.report(.late, in: .vote)
    await hub.drain()
    #expect(told.history.map(\.kind) == [.failed, .dropped, .late])
    #expect(told.history.map(\.dropped) == [0, 3, 0])
    #expect(told.history.map { $0.error != nil } == [true, false, false])
    #expect(told.history.map(\.call) == [.vote, .notify, .vote])
    withExtendedLifetime(probe) {}
  }

  @Test("an incident that the hook causes is told, too")
  func causing() {
    let hub = Lock<DelegateHub?>(nil)
    let told = Recorder<String>()
    defer { hub.withLock { $0 = nil } }
    let stage = Stage { configuration in
      configuration.onIncident = { incident in
        told.record(incident.reason)
        if incident.reason == "first" {
          hub.withLock { $0 }?[Listener.self].notify() { _ in throw Refusal(reason: "second") }
        }
      }
    }
    hub.withLock { $0 = stage.hub }
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self)
    stage.hub[Listener.self].notify() { _ in throw Refusal(reason: "first") }
    stage.run()
    #expect(told.history == ["first", "second"])
    withExtendedLifetime(probe) {}
  }

  @Test(
    "what happened is told though the hub is released, and the hub is kept by nobody after that")
  func released() {
    let told = Recorder<String>()
    var stage: Stage? = Stage { configuration in
      configuration.onIncident = { told.record("\($0.kind) \($0.reason)") }
    }
    let executor = stage?.executor
    let probe = Probe()
    stage?.hub.subscribe(probe, to: Listener.self)
    let trace = stage.map { Obituary(of: $0.hub) }
    stage?.hub[Listener.self].notify() { _ in throw Refusal(reason: "last") }
    stage = nil
    executor?.run()
    #expect(told.history == ["failed last"])
    #expect(trace?.isDead == true)
    withExtendedLifetime(probe) {}
  }

  @Test("settings are made in one go, and what is not named is the default")
  func settings() {
    let (executor, clock) = (ManualExecutor(), ManualClock())
    let told = Recorder<DelegateHub.Incident.Kind>()
    let configuration = DelegateHub.Configuration(
      executor: executor, clock: clock, onIncident: { told.record($0.kind) },
      slowAfter: .seconds(2), propagating: [.taskLocal(Ambience.$value)])
    #expect(configuration.executor as? ManualExecutor === executor)
    #expect(configuration.clock as? ManualClock === clock)
    #expect(configuration.slowAfter == .seconds(2))
    #expect(configuration.propagating.count == 1)
    let probe = Probe()
    let subscription = DelegateHub().subscribe(probe, to: Listener.self)
    configuration.onIncident(
      .init(
        kind: .slow, call: .vote, error: nil, dropped: 0, subscription: subscription,
        id: subscription.node.id))
    #expect(told.history == [.slow])
    let plain = DelegateHub.Configuration()
    #expect(plain.executor == nil && plain.slowAfter == nil && plain.propagating.isEmpty)
    #expect(plain.clock is ContinuousClock)
    withExtendedLifetime(probe) {}
  }

  private enum Ambience {
    @TaskLocal static var value = 0
  }
}
