import Testing

@testable import Delegation

/// The task-locals of these tests.
enum Ambient {
  @TaskLocal static var request = "none"
  @TaskLocal static var user = 0
  @TaskLocal static var unnamed = "none"
}

@Suite("Guarantee 15: context of questions", .inTurn)
struct Guarantee15QuestionTests {
  @Test(
    "handlers see the caller's task-locals, before and after suspending", arguments: Reach.asking)
  func taskLocals(reach: Reach) async {
    let hub = DelegateHub()
    let own = DispatchQueueExecutor(MarkedQueue.make("own"))
    let probes = Probe.many(10)
    for probe in probes {
      hub.subscribe(probe, to: Listener.self, on: probe.name == "5" ? own : nil)
    }
    let seen = Recorder<String>()
    await Ambient.$request.withValue("r7") {
      await Ambient.$user.withValue(42) {
        await reach(hub) { _ in seen.record("\(Ambient.request) \(Ambient.user)") }
      }
    }
    #expect(seen.history == Array(repeating: "r7 42", count: 20))
    withExtendedLifetime(probes) {}
  }

  @Test("so they do on the hub's executor, and with deadlines", arguments: Reach.asking)
  func taskLocalsOnAnExecutor(reach: Reach) {
    let stage = Stage()
    let probes = stage.cast(10)
    let seen = Recorder<String>()
    let call = Ambient.$request.withValue("r8") {
      stage.start { hub in
        await reach(hub) { _ in seen.record(Ambient.request) }
        return true
      }
    }
    #expect(call.result == true)
    #expect(seen.history == Array(repeating: "r8", count: 20))
    withExtendedLifetime(probes) {}
  }

  /// Writes down with which task-locals and priority it is called.
  private struct Attentive: Combiner {
    let seen: Recorder<String>

    private func note(_ call: String) {
      seen.record("\(call) \(Ambient.request) \(Task.currentPriority == .low)")
    }
    mutating func begin(asking count: Int) -> Bool? {
      note("begins")
      return nil
    }
    mutating func receive(_ response: Bool, from position: Int) -> Bool? {
      note("receives")
      return nil
    }
    mutating func finish() -> Bool {
      note("finishes")
      return false
    }
  }

  @Test("a combiner is called with them, at a deadline too", arguments: [0, 5])
  func combiner(seconds: Int) async {
    let stage = Stage()
    let probes = stage.cast(2)
    let (gate, seen) = (Gate(), Recorder<String>())
    let hub = stage.hub
    let call = Ambient.$request.withValue("r9") {
      Task(executorPreference: stage.executor, priority: .low) {
        await hub[Listener.self].ask(combining: Attentive(seen: seen), within: .seconds(seconds),
          absent: .counts(as: true)
        ) { probe in
          if probe.name == "1" { await gate.pass() }
          return true
        }
      }
    }
    stage.run()
    stage.advance(by: .seconds(5))
    #expect(
      seen.history == ["begins", "receives", "receives", "finishes"].map { "\($0) r9 true" })
    stage.open(gate)
    #expect(await call.value == false)
    withExtendedLifetime(probes) {}
  }

  @Test("callers at the same time have each their own", arguments: Reach.asking)
  func manyCallers(reach: Reach) async {
    let hub = DelegateHub()
    let probes = Probe.many(5)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    await withTaskGroup { group in
      for user in 1...20 {
        group.addTask {
          let seen = Recorder<Int>()
          await Ambient.$user.withValue(user) {
            await reach(hub) { _ in seen.record(Ambient.user) }
          }
          #expect(seen.history == Array(repeating: user, count: 10))
        }
      }
    }
    withExtendedLifetime(probes) {}
  }

  @Test(
    "handlers run at the caller's priority", arguments: Reach.asking,
    [TaskPriority.high, .medium, .low])
  func priority(reach: Reach, priority: TaskPriority) async {
    let hub = DelegateHub()
    let own = DispatchQueueExecutor(MarkedQueue.make("own"))
    let probes = Probe.many(5)
    for probe in probes {
      hub.subscribe(probe, to: Listener.self, on: probe.name == "3" ? own : nil)
    }
    let seen = Recorder<TaskPriority>()
    // To await the task itself would raise its priority.
    Task.detached(priority: priority) {
      await reach(hub) { _ in seen.record(Task.currentPriority) }
    }
    #expect(await seen.history(of: 10) == Array(repeating: priority, count: 10))
    await hub.drain()
  }

  @Test("a voter's own changes are seen by nobody else")
  func voterOfAVoter() async {
    let hub = DelegateHub()
    let probes = Probe.many(10)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let users = await Ambient.$user.withValue(-1) {
      await hub[Listener.self].ask(combining: .all()) { probe in
        let before = Ambient.user
        await Ambient.$user.withValue(Int(probe.name)!) { await Task.yield() }
        return [before, Ambient.user]
      }
    }
    #expect(users == Array(repeating: [-1, -1], count: 10))
    withExtendedLifetime(probes) {}
  }
}
