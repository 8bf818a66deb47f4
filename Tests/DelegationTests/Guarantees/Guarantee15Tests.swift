import Delegation
import Testing

/// The task-locals of these tests.
enum Ambient {
  @TaskLocal static var request = "none"
  @TaskLocal static var user = 0
}

@Suite("Guarantee 15: context", .inTurn)
struct Guarantee15Tests {
  static let telling: [Reach] = [.notify, .notifyAsynchronously, .notifyAndWait]

  /// A hub that propagates the user, but not the request, among subscribers of which one has its own executor.
  private func makeHub(propagating: Bool = true) -> DelegateHub {
    let hub = DelegateHub(
      .init(onIncident: { _ in }, propagating: propagating ? [.taskLocal(Ambient.$user)] : []))
    hub.cast(9)
    hub.cast(1, on: DispatchQueueExecutor(MarkedQueue.make("own")))
    return hub
  }

  @Test(
    "questions carry the caller's task-locals, notifications those propagated; nobody another's")
  func taskLocals() async {
    for reach in Reach.allCases {
      for isPropagating in [false, true] {
        let (hub, wrong, seen) = (
          makeHub(propagating: isPropagating), Recorder<String>(), Recorder<Void>()
        )
        let isQuestion = Reach.asking.contains(reach)
        await withTaskGroup { group in
          for user in 1...8 {
            group.addTask {
              await Ambient.$request.withValue("r\(user)") {
                await Ambient.$user.withValue(user) {
                  let expected =
                    "\(isQuestion ? "r\(user)" : "none") \(isQuestion || isPropagating ? user : 0)"
                  await reach(hub) { _ in
                    seen.record(())
                    let found = "\(Ambient.request) \(Ambient.user)"
                    if found != expected { wrong.record("\(found), not \(expected)") }
                  }
                }
              }
            }
          }
        }
        await hub.drain()
        // Before and after they have suspended.
        #expect(seen.count == 8 * 10 * (reach == .notify ? 1 : 2), "\(reach)")
        #expect(wrong.history == [], "\(reach)")
      }
    }
  }

  @Test("it is the value at the time of posting that counts, also of what a handler posts or asks")
  func atPosting() {
    let stage = Stage { $0.propagating = [.taskLocal(Ambient.$user)] }
    let (hub, seen) = (stage.hub, Recorder<Int>())
    hub.cast(1)
    for user in 1...2 {
      Ambient.$user.withValue(user) {
        hub.listeners.notify { _ in
          seen.record(Ambient.user)
          hub.listeners.notify { _ in
            seen.record(10 * Ambient.user)
            Ambient.$user.withValue(5) {
              hub.listeners.notify { _ in
                await Task.yield()
                seen.record(Ambient.user)
              }
            }
            for user in await hub.listeners.ask(combining: .all(), { _ in Ambient.user }) {
              seen.record(100 * user)
            }
          }
        }
      }
    }
    Ambient.$user.withValue(99) { stage.run() }
    #expect(seen.history == [1, 2, 10, 100, 20, 200, 5, 5])
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

  @Test("a combiner is called with the caller's, at a deadline too", arguments: [0, 5])
  func combiner(seconds: Int) async {
    let (stage, gate, seen) = (Stage(), Gate(), Recorder<String>())
    stage.hub.cast(2)
    let call = Ambient.$request.withValue("r9") { [hub = stage.hub] in
      Task(executorPreference: stage.executor, priority: .low) {
        await hub.listeners.ask(
          combining: Attentive(seen: seen), within: .seconds(seconds), absent: .counts(as: true)
        ) { probe in
          if probe.name == "1" { await gate.pass() }
          return true
        }
      }
    }
    stage.run()
    stage.advance(by: .seconds(5))
    #expect(seen.history == ["begins", "receives", "receives", "finishes"].map { "\($0) r9 true" })
    stage.open(gate)
    #expect(await call.value == false)
  }

  @Test(
    "handlers of a question have the priority that its caller has when it asks, as children have",
    arguments: Reach.asking)
  func priority(reach: Reach) async {
    let own = DispatchQueueExecutor(MarkedQueue.make("own"))
    let settings: [DelegateHub.Configuration] = [
      .init(), .init(executor: own), .init(interceptors: [Hook { await $1() }]),
    ]
    let casts: [(voters: Int, executor: DispatchQueueExecutor?)] = [
      (1, nil), (2, nil), (9, nil), (1, own), (2, own),
    ]
    // The task's own priority, and that of the one who awaits it, which raises it.
    let priorities: [(TaskPriority, TaskPriority?)] = [
      (.high, nil), (.medium, nil), (.low, nil), (.low, .high), (.background, .medium),
    ]
    for (priority, raised) in priorities {
      for (setting, configuration) in settings.enumerated() {
        for (voters, executor) in casts {
          let (hub, seen) = (DelegateHub(configuration), Recorder<TaskPriority>())
          let inner = DelegateHub(configuration)
          hub.cast(voters, on: executor)
          inner.cast(2)
          let caller = Task.detached(priority: priority) {
            while let raised, Task.currentPriority < raised { await Task.yield() }
            await withDiscardingTaskGroup { $0.addTask { seen.record(Task.currentPriority) } }
            await reach.call(hub) { _ in
              seen.record(Task.currentPriority)
              await reach(inner) { _ in seen.record(Task.currentPriority) }
            }
          }
          // To await the task itself would raise it, too.
          if let raised { Task.detached(priority: raised) { await caller.value } }
          let found = await seen.history(of: 1 + 5 * voters)
          #expect(
            found == Array(repeating: raised ?? priority, count: 1 + 5 * voters),
            "\(setting), \(voters) voters, \(executor == nil ? "no" : "an") executor")
          await hub.drain()
        }
      }
    }
  }

  @Test("what is replayed has the default priority, whoever subscribes")
  func replayed() async {
    let (events, seen) = (Events<Int>(replaying: 1), Recorder<TaskPriority>())
    events.post(1)
    Task.detached(priority: .high) {
      events.registry.observe { _ in seen.record(Task.currentPriority) }
    }
    #expect(await seen.history(of: 1) == [.medium])
  }
}
