import DelegationTesting
import Testing

/// Jobs that run when they are told to, and calls that are run to their end or as far as they go.
@Suite("ManualExecutor", .inTurn)
struct ManualExecutorTests {
  private let executor = ManualExecutor()
  private let history = Recorder<Int>()

  @TaskLocal private static var caller = "nobody"

  private func start(_ number: Int) {
    Task(executorPreference: executor) { [history] in history.record(number) }
  }

  @Test("nothing runs before it is told to, then everything in the order in which it came")
  func order() {
    for number in 0..<100 { start(number) }
    #expect(history.events == [] && executor.pendingJobs == 100 && executor.runNext())
    #expect(history.events == [0] && executor.run(atMost: 50) == 50 && executor.run() == 49)
    #expect(history.events == Array(0..<100) && executor.pendingJobs == 0 && !executor.runNext())
  }

  private actor Counter {
    private(set) var count = 0
    func add() { count += 1 }
  }

  @Test("children, and the default actors that a task enters, run on it as well")
  func inheritance() {
    let counter = Counter()
    let call = executor.start { [history] in
      await withTaskGroup { group in
        for number in 0..<3 {
          group.addTask {
            await counter.add()
            history.record(number)
          }
        }
      }
      return await counter.count
    }
    #expect(call.value == 3 && history.events.sorted() == [0, 1, 2])
  }

  @Test("no job that comes from another thread is lost")
  func otherThreads() async {
    let arrived = Recorder<Void>()
    for number in 0..<8 {
      onAnotherThread { [self] in
        for offset in 0..<100 { start(number * 100 + offset) }
        arrived.record(())
      }
    }
    _ = await arrived.events(atLeast: 8)
    #expect(executor.run() == 800 && history.events.sorted() == Array(0..<800))
  }

  @Test("a call that has not ended has no result, and can be cancelled")
  func call() throws {
    let gate = Gate()
    let passing = executor.start {
      await gate.pass()
      return 1
    }
    #expect(!passing.isOver && passing.value == nil && passing.result == nil)
    gate.open()
    #expect(!passing.isOver)
    executor.run()
    #expect(passing.isOver && passing.value == 1)
    let clock = ManualClock()
    let sleeping = executor.start { try await clock.sleep(for: .seconds(1)) }
    sleeping.cancel()
    executor.run()
    #expect(throws: CancellationError.self) { try sleeping.result?.get() }
    let refused = executor.start { () async throws(Refusal) -> Int in throw Refusal(reason: "no") }
    #expect(refused.result == .failure(Refusal(reason: "no")))
  }

  @Test("a closure is driven to its end, and its result or error comes back")
  func end() throws {
    let number = try executor.drive {
      for _ in 0..<10 { await Task.yield() }
      return 42
    }
    #expect(number == 42)
    #expect(throws: Refusal(reason: "no")) {
      try executor.drive {
        await Task.yield()
        throw Refusal(reason: "no")
      }
    }
    #expect(try executor.drive(stepLimit: 1) { 1 } == 1, "with the last job allowed")
    let nested = try executor.drive { [executor] in
      await Task.yield()
      return try drive(on: executor)
    }
    #expect(nested == 2, "a job may drive another closure")
    @Sendable func drive(on executor: ManualExecutor) throws -> Int {
      try executor.drive {
        await Task.yield()
        return 2
      }
    }
  }

  @Test("it runs on the calling thread, with the caller's task-locals, and what is left is not run")
  func surroundings() throws {
    try Self.$caller.withValue("the test") {
      let caller = try executor.drive { Self.caller }
      #expect(caller == "the test")
    }
    try executor.drive { [executor, history] in
      _ = Task(executorPreference: executor) {
        history.record(1)
        await Task.yield()
        history.record(2)
      }
    }
    #expect(history.events == [])
    executor.run()
    #expect(history.events == [1, 2])
  }

  @Test("work that runs elsewhere is waited for", arguments: 0..<50)
  func elsewhere(round: Int) throws {
    // A gate that another thread opens, sometimes before it is passed.
    let gate = Gate()
    let number = try executor.drive(patience: .seconds(60)) {
      onAnotherThread { gate.open() }
      if round.isMultiple(of: 2) { await Task.yield() }
      await gate.pass()
      return round
    }
    #expect(number == round)
  }

  @Test("a clock goes on to its deadlines when nothing else can")
  func clock() throws {
    let clock = ManualClock()
    let history = Recorder<Duration>()
    try executor.drive(advancing: clock) {
      try await withThrowingTaskGroup { group in
        for seconds in [3, 1, 2] {
          group.addTask {
            try await clock.sleep(for: .seconds(seconds))
            history.record(clock.now.offset)
          }
        }
        try await group.waitForAll()
      }
    }
    #expect(history.events == [.seconds(1), .seconds(2), .seconds(3)] && clock.sleepers == 0)
  }

  /// A closure that does not end, and what is said of it.
  private struct Fault: Sendable {
    var kind = DriveFailure.Kind.stuck
    var patience = Duration.zero
    var steps: Int?
    /// What ignores its cancellation stays suspended until the executor runs.
    var jobsLeft = 0
    let says: [String]
    let body: @Sendable (ManualExecutor, ManualClock, Recorder<Void>) async -> Void
    var clock: ManualClock?
  }

  private static let faults: [Fault] = [
    Fault(says: ["ManualExecutorTests.swift:", "is stuck", "`Task { }`"]) { _, _, cancelled in
      await withTaskCancellationHandler {
        await Gate().pass()
      } onCancel: {
        cancelled.record(())
      }
    },
    Fault(says: ["is stuck"]) { executor, _, _ in
      let hub = DelegateHub(on: executor)
      hub.subscribe(Probe("a", in: Recorder()), to: Listener.self, hold: .strongly)
      _ = await hub[Listener.self].vote { _ in
        await Gate().pass()
        return true
      }
    },
    Fault(patience: .milliseconds(1), says: ["0.001 seconds"]) { _, _, _ in await Gate().pass() },
    Fault(kind: .endless, steps: 100, says: ["`stepLimit`"]) { _, _, _ in
      while !Task.isCancelled { await Task.yield() }
    },
    // By a clock that advances for ever, and by one that does not.
    Fault(
      kind: .endless, jobsLeft: 1, says: ["`stepLimit`"],
      body: { _, clock, stop in
        while stop.count == 0 { try? await clock.sleep(for: .seconds(1)) }
      }, clock: ManualClock()),
    Fault(jobsLeft: 1, says: ["`advancing: clock`"]) { _, clock, stop in
      while stop.count == 0 { try? await clock.sleep(for: .seconds(1)) }
    },
  ]

  @Test("a closure that does not end fails, says why, and is cancelled", arguments: faults.indices)
  func unfinished(index: Int) {
    let fault = Self.faults[index]
    let stop = Recorder<Void>()
    let failure = #expect(throws: DriveFailure.self) {
      try executor.drive(advancing: fault.clock, patience: fault.patience, stepLimit: 100) {
        [executor] in
        await fault.body(executor, fault.clock ?? ManualClock(), stop)
      }
    }
    #expect(failure?.kind == fault.kind)
    #expect(fault.steps == nil || failure?.steps == fault.steps)
    for text in fault.says { #expect(failure?.description.contains(text) == true, "\(text)") }
    #expect(executor.pendingJobs == fault.jobsLeft)
    if index == 0 { #expect(stop.count == 1) }
    stop.record(())
    executor.run()
  }
}
