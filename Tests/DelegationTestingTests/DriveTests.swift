import DelegationTesting
import Testing

@Suite("ManualExecutor.drive")
struct DriveTests {
  private let executor = ManualExecutor()

  @TaskLocal private static var caller = "nobody"

  @Test("a closure is run to its end, and its result or error comes back")
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
  }

  @Test("a hub's calls of all kinds are driven to their ends")
  func hub() throws {
    let events = Recorder<String>()
    let hub = DelegateHub(on: executor)
    for name in ["a", "b"] {
      hub.subscribe(Probe(name, in: events), to: Listener.self, hold: .strongly)
    }
    #expect(try executor.drive { await hub[Listener.self].vote() { await $0.answer(1) } })
    #expect(events.clear().sorted().prefix(2) == ["a answers 1", "a is asked 1"])
    hub[Listener.self].notify() { $0.hear(2) }
    #expect(try executor.drive { await hub.drain().isEmpty })
    #expect(events.events == ["a hears 2", "b hears 2"])
    #expect(
      try executor.drive { await hub[Listener.self].collect() { await $0.answer(3) } }.count == 2)
  }

  @Test("it runs on the calling thread, with the caller's task-locals")
  func surroundings() throws {
    try Self.$caller.withValue("the test") {
      let caller = try executor.drive { Self.caller }
      #expect(caller == "the test")
    }
    withUnsafeCurrentTask { task in
      let before = task?.hashValue
      _ = try? executor.drive { await Task.yield() }
      withUnsafeCurrentTask { #expect($0?.hashValue == before) }
    }
  }

  @Test("what is left is not run")
  func leftovers() throws {
    let history = Recorder<Int>()
    try executor.drive { [executor] in
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

  @Test("a closure that waits for what never comes fails, says why, and is cancelled")
  func stuck() throws {
    let cancelled = Recorder<Void>()
    let failure = #expect(throws: DriveFailure.self) {
      try executor.drive(patience: .zero) {
        await withTaskCancellationHandler {
          await Gate().pass()
        } onCancel: {
          cancelled.record(())
        }
      }
    }
    #expect(failure?.kind == .stuck)
    #expect(cancelled.count == 1)
    #expect(executor.pendingJobs == 0)
    let text = try #require(failure?.description)
    #expect(text.contains("DriveTests.swift:"))
    #expect(text.contains("is stuck"))
    #expect(text.contains("`Task { }`"))
  }

  @Test("without patience a vote whose voter does not answer fails at once")
  func silentVoter() {
    let hub = DelegateHub(on: executor)
    let gate = Gate()
    hub.subscribe(Probe("a", in: Recorder()), to: Listener.self, hold: .strongly)
    let failure = #expect(throws: DriveFailure.self) {
      try executor.drive(patience: .zero) {
        await hub[Listener.self].vote() { _ in
          await gate.pass()
          return true
        }
      }
    }
    #expect(failure?.kind == .stuck)
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

  @Test("patience ends")
  func patience() {
    let failure = #expect(throws: DriveFailure.self) {
      try executor.drive(patience: .milliseconds(1)) { await Gate().pass() }
    }
    #expect(failure?.kind == .stuck)
    #expect(failure?.description.contains("0.001 seconds") == true)
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
    #expect(history.events == [.seconds(1), .seconds(2), .seconds(3)])
    #expect(clock.sleepers == 0)
  }

  @Test("a closure that does not end is cut off")
  func endless() {
    let failure = #expect(throws: DriveFailure.self) {
      try executor.drive(stepLimit: 100) { while !Task.isCancelled { await Task.yield() } }
    }
    #expect(failure?.kind == .endless)
    #expect(failure?.steps == 100)
    #expect(failure?.description.contains("`stepLimit`") == true)
    #expect(executor.pendingJobs == 0)
  }

  @Test(
    "a closure that polls by a clock for ever is cut off, whether the clock advances or not",
    arguments: [true, false])
  func polling(advances: Bool) {
    let clock = ManualClock()
    let stop = Recorder<Void>()
    let failure = #expect(throws: DriveFailure.self) {
      try executor.drive(advancing: advances ? clock : nil, stepLimit: 100) {
        while stop.count == 0 { try? await clock.sleep(for: .seconds(1)) }
      }
    }
    #expect(failure?.kind == (advances ? .endless : .stuck))
    // What ignores its cancellation stays suspended until the executor runs.
    #expect(executor.pendingJobs == 1)
    stop.record(())
    executor.run()
  }

  @Test("a closure that ends with the last job allowed has ended")
  func lastStep() throws {
    #expect(try executor.drive(stepLimit: 1) { 1 } == 1)
  }

  @Test("a job may drive another closure")
  func nested() throws {
    let number = try executor.drive { [executor] in
      await Task.yield()
      return try drive(on: executor)
    }
    #expect(number == 2)
    @Sendable func drive(on executor: ManualExecutor) throws -> Int {
      try executor.drive {
        await Task.yield()
        return 2
      }
    }
  }
}
