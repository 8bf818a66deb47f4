import Testing

@testable import Delegation

@Suite("askInTurn and pass, on a hub with an executor that stands still", .inTurn)
struct InTurnExecutorTests {
  @Test("a drain sees a call that waits for the hub's executor")
  func drain() async {
    let executor = ManualExecutor()
    let hub = DelegateHub(.init(executor: executor))
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    let called = Recorder<Int>()
    let call = Task {
      await hub[Listener.self].pass(1) { _, value in
        called.record(value)
        return value + 1
      }
    }
    await executor.waitForJob()
    let left = await hub.drain(within: .zero)
    #expect(left.description == "the hub's own work: 1")
    #expect(called.history == [])
    let result = await executor.run(until: call)
    #expect(result == 2)
    #expect(called.history == [1])
    #expect(await hub.drain(within: .zero).isEmpty)
    withExtendedLifetime(probe) {}
  }

  @Test("the hub's actor is not taken there: others' questions meet their deadlines")
  func actor() async {
    let executor = ManualExecutor()
    let hub = DelegateHub(.init(executor: executor))
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    // A handler that suspends, so that the call comes back to the executor.
    let gate = Gate()
    let call = Task {
      await hub[Listener.self].askInTurn() { _ -> Int? in
        await gate.pass()
        return 1
      }
    }
    await executor.waitForJob()
    // One job, in whatever the call is by then; after it the executor stands still again.
    executor.runNext()
    let isPassed = await hub[Listener.self].vote(within: .milliseconds(10), absent: .counts(as: false)
    ) { _ in true }
    #expect(!isPassed)
    #expect(hub[Listener.self].count == 1)
    gate.open()
    let answer = await executor.run(until: call)
    #expect(answer == 1)
    withExtendedLifetime(probe) {}
  }

  @Test("a call that reaches nobody does not need it")
  func nobody() async {
    let hub = DelegateHub(.init(executor: ManualExecutor()))
    #expect(await hub[Listener.self].pass(1) { _, value in value + 1 } == 1)
    #expect(await hub[Listener.self].askInTurn() { _ -> Int? in 1 } == nil)
  }
}

extension ManualExecutor {
  /// Waits until a job is pending.
  fileprivate func waitForJob() async {
    while pendingJobs == 0 { await Task.yield() }
  }

  /// Runs what comes until a task is over.
  fileprivate func run<Success: Sendable>(until task: Task<Success, Never>) async -> Success {
    let results = Recorder<Success>()
    Task { results.record(await task.value) }
    while results.history.isEmpty {
      run()
      await Task.yield()
    }
    return await task.value
  }
}
