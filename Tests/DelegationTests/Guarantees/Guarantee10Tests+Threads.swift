import Delegation
import Testing

/// Deadlines where threads are blocked, and executors stand still.
extension Guarantee10Tests {
  @Test("it holds against one that blocks a thread of two", arguments: Question.allCases)
  func blocked(question: Question) async {
    // The caller runs where the handlers run, and is not blocked in their place.
    let (clock, pool) = (ManualClock(), ThreadPool(threads: 2))
    for place in [0, 3] {
      let (hub, blockade) = (DelegateHub(clock, on: pool), Blockade())
      hub.cast(4)
      let call = Task(executorPreference: pool) {
        await question(hub.listeners) { if $0.name == "\(place)" { blockade.enter() } }
      }
      await blockade.entry()
      await clock.waitForSleepers(1)
      // An answer after the deadline would be late.
      let others = question.isInTurn ? place : 3
      while hub.statistics().questions.answered < others { await Task.yield() }
      clock.advance(by: .seconds(1))
      #expect(await call.value == question.outcome(late: place))
      #expect(blockade.end(), "the question waited for its handler")
      #expect(await hub.drain().isEmpty)
    }
  }

  @Test(
    "who has not begun by then is never called, and keeps nothing", arguments: Question.allCases)
  func notBegun(question: Question) {
    let (stuck, lifetimes, called) = (ManualExecutor(), Lifetimes(), Recorder<String>())
    let there = Probe("1")
    stage.hub.cast(1)
    stage.hub.subscribe(there, to: Listener.self, on: stuck)
    let call = stage.start { hub in
      let captured = lifetimes.make()
      return await question(hub.listeners) { probe in
        withExtendedLifetime(captured) { called.record(probe.name) }
      }
    }
    #expect(call.result == nil)
    stage.advance(by: .seconds(1))
    #expect(call.result == (question == .ask || question == .collect ? "0late" : "late"))
    #expect(lifetimes.alive == 0)
    stuck.run()
    stage.run()
    #expect(called.history == ["0"] && stage.isDrained)
  }

  @Test("nor do they while the hub's executor stands still", arguments: Question.allCases)
  func hubStandsStill(question: Question) async {
    let (stuck, lifetimes) = (ManualExecutor(), Lifetimes())
    // By the real clock, whose deadlines do not need the hub's executor.
    let hub = DelegateHub(.init(executor: stuck, onIncident: { _ in }))
    hub.cast(2)
    func ask(_ captured: Lifetimes.Tracked) async -> String {
      await question(hub.listeners, within: .milliseconds(1)) { _ in
        withExtendedLifetime(captured) {}
      }
    }
    #expect(await ask(lifetimes.make()).contains("late"))
    await lifetimes.shrink()
    stuck.run()
  }

  @Test(
    "a cancellation handler that blocks breaks no deadline, whoever cancels first",
    arguments: Question.allCases, [false, true])
  func blockingCancellationHandler(question: Question, isCallerCancelled: Bool) async {
    let (clock, pool) = (ManualClock(), ThreadPool(threads: 8))
    let (hub, gate, blockade) = (DelegateHub(clock, on: pool), Gate(), Blockade())
    hub.cast(question.isInTurn ? 1 : 3)
    let call = Task {
      await question(hub.listeners) { probe in
        await withTaskCancellationHandler {
          await gate.pass()
        } onCancel: {
          if probe.name == "0" { blockade.enter() }
        }
      }
    }
    await gate.arrivals(question.isInTurn ? 1 : 3)
    await clock.waitForSleepers(1)
    // In a task of its own, for it may be blocked.
    let canceller = Task(executorPreference: pool) { if isCallerCancelled { call.cancel() } }
    if isCallerCancelled { await blockade.entry() }
    clock.advance(by: .seconds(1))
    #expect(await call.value.contains("late"))
    await canceller.value
    #expect(blockade.end(), "somebody waited for the cancellation handler")
    gate.open()
    await hub.drain()
  }

  @Test("a deadline that comes before the caller has begun to wait is not missed")
  func earlyDeadline() async {
    let hub = DelegateHub {
      $0.clock = HastyClock()
      $0.executor = PromptExecutor()
    }
    let (gate, returned) = (Gate(), Gate())
    hub.cast(1)
    Task {
      let vote = await hub[Listener.self].vote(within: .seconds(1), absent: .counts(as: false)) {
        _ in
        await gate.pass()
        return true
      }
      #expect(!vote)
      returned.arrive()
    }
    #expect(await returned.isReached)
    gate.open()
    await hub.drain()
  }
}

/// Ends each sleep at once.
private struct HastyClock: Clock {
  let minimumResolution = Duration.nanoseconds(1)
  var now: ContinuousClock.Instant { .now }
  func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {}
}
