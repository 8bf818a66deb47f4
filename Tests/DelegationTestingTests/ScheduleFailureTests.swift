import DelegationTesting
import Testing

@Suite("How a schedule fails")
struct ScheduleFailureTests {
  @Test("a kind is written by its name")
  func kinds() {
    let kinds: [ScheduleFailure.Kind] = [.threw, .stuck, .endless, .cancelled]
    #expect(kinds.map(\.description) == ["threw", "stuck", "endless", "cancelled"])
  }

  @Test("a scenario that is stuck is reported with its seed, and cancelled")
  func stuck() throws {
    let cancelled = Recorder<UInt64>()
    let failure = #expect(throws: ScheduleFailure.self) {
      try exploreSchedules(seeds: 7..<100, patience: .zero) { executor in
        await withTaskCancellationHandler {
          await Gate().pass()
        } onCancel: {
          cancelled.record(executor.seed)
        }
      }
    }
    #expect(failure?.kind == .stuck)
    #expect(failure?.seed == 7)
    #expect(failure?.error == nil)
    #expect(cancelled.events == [7])
    #expect(failure?.description.hasPrefix("seed 7: the scenario is stuck after ") == true)
  }

  /// Is entered by one at a time; who comes meanwhile waits.
  private actor Turnstile {
    private var isTaken = false
    private var waiting: [AsyncStream<Never>.Continuation] = []

    func enter() async {
      while isTaken {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        waiting.append(continuation)
        for await _ in stream {}
        if Task.isCancelled { return }
      }
      isTaken = true
    }

    func leave() {
      isTaken = false
      for continuation in waiting { continuation.finish() }
      waiting = []
    }
  }

  @Test("two tasks that wait for each other in some schedules only are found")
  func deadlock() throws {
    @Sendable func scenario(_ executor: SeededExecutor) async {
      let turnstiles = [Turnstile(), Turnstile()]
      await withTaskGroup { group in
        for (first, second) in [(0, 1), (1, 0)] {
          group.addTask {
            await turnstiles[first].enter()
            await turnstiles[second].enter()
            await turnstiles[second].leave()
            await turnstiles[first].leave()
          }
        }
      }
    }

    let failure = #expect(throws: ScheduleFailure.self) {
      try exploreSchedules(patience: .zero, scenario)
    }
    #expect(failure?.kind == .stuck)
    let again = #expect(throws: ScheduleFailure.self) {
      try replaySchedule(seed: try #require(failure?.seed), patience: .zero, scenario)
    }
    #expect(again?.steps == failure?.steps)
    // Some schedules pass: those before the one that fails, or those after it.
    var passed = 0
    for seed in 0..<50 as Range<UInt64> {
      if (try? replaySchedule(seed: seed, patience: .zero, scenario)) != nil { passed += 1 }
    }
    #expect(passed > 0 && passed < 50)
  }

  @Test("a scenario that does not end is cut off", arguments: [0, 1] as [UInt64])
  func endless(seed: UInt64) {
    let failure = #expect(throws: ScheduleFailure.self) {
      try replaySchedule(seed: seed, stepLimit: 1000) { _ in
        while !Task.isCancelled { await Task.yield() }
      }
    }
    #expect(failure?.kind == .endless)
    #expect(failure?.steps.count == 1000)
    #expect(failure?.description.contains("`stepLimit`") == true)
  }

  @Test("a task that it leaves behind and that does not end is cut off as well")
  func endlessLeftover() {
    let stop = Recorder<Void>()
    let failure = #expect(throws: ScheduleFailure.self) {
      try replaySchedule(seed: 1, stepLimit: 1000) { executor in
        Task(executorPreference: executor) {
          for _ in 0..<5000 { await Task.yield() }
          stop.record(())
        }
      }
    }
    #expect(failure?.kind == .endless)
    // It is given some more steps, to end.
    #expect(stop.count == 1)
  }

  @Test("a scenario may take as many steps as it is allowed to")
  func limit() throws {
    let exploration = try replaySchedule(seed: 2) { _ in await Task.yield() }
    #expect(
      try replaySchedule(seed: 2, stepLimit: exploration.steps) { _ in await Task.yield() }
        == exploration)
    #expect(throws: ScheduleFailure.self) {
      try replaySchedule(seed: 2, stepLimit: exploration.steps - 1) { _ in await Task.yield() }
    }
  }

  @Test("nothing is kept of a schedule that failed")
  func memory() {
    let dead = Recorder<Void>()
    for kind in 0..<3 {
      #expect(throws: ScheduleFailure.self) {
        try replaySchedule(seed: 1, stepLimit: 100, patience: .zero) { executor in
          let mortal = Mortal { dead.record(()) }
          async let other: Void = {
            await Gate().pass()
            withExtendedLifetime(mortal) {}
          }()
          switch kind {
          case 0: throw Refusal()
          case 1: await other
          default: while !Task.isCancelled { await Task.yield() }
          }
        }
      }
    }
    #expect(dead.count == 3)
  }

  @Test("jobs from other threads, and a strategy that was chosen, are in the description")
  func description() throws {
    let failure = #expect(throws: ScheduleFailure.self) {
      try exploreSchedules(seeds: [3], strategy: .random, patience: .seconds(60)) { _ in
        let gate = Gate()
        onAnotherThread { gate.open() }
        await gate.pass()
        throw Refusal()
      }
    }
    let text = try #require(failure?.description)
    #expect(text.contains("replaySchedule(seed: 3, strategy: .random, patience: .seconds(60))"))
    if failure?.foreignJobs != 0 { #expect(text.contains("jobs came from other threads")) }
  }

  @Test(
    "each argument that is not the default is in the description, as a source file has it",
    arguments: [
      (.milliseconds(1_500), ".milliseconds(1500)"), (.microseconds(7), ".microseconds(7)"),
      (.nanoseconds(-3), ".nanoseconds(-3)"),
      (
        Duration(secondsComponent: 1, attosecondsComponent: 5),
        "Duration(secondsComponent: 1, attosecondsComponent: 5)"
      ),
    ] as [(Duration, String)])
  func arguments(patience: Duration, code: String) {
    let failure = #expect(throws: ScheduleFailure.self) {
      try exploreSchedules(
        seeds: [4], strategy: .priorities, stepLimit: 500, patience: patience
      ) { _ in throw Refusal() }
    }
    #expect(
      failure?.description.contains(
        "replaySchedule(seed: 4, strategy: .priorities, stepLimit: 500, patience: \(code)) with")
        == true)
  }

  /// An error with much to say.
  private struct Verbose: Error, CustomStringConvertible {
    var description: String { String(repeating: "no ", count: 1_000) }
  }

  @Test("it says in a few lines what failed, whatever was thrown and however many steps it took")
  func brief() {
    func text(_ scenario: @escaping @Sendable () throws -> Void) -> String {
      let failure = #expect(throws: ScheduleFailure.self) {
        try replaySchedule(seed: 3) { _ in
          for _ in 0..<1_000 { await Task.yield() }
          try scenario()
        }
      }
      #expect(failure.map { String(reflecting: $0) } == failure.map { "\($0)" })
      return "\(failure as Any)"
    }
    withKnownIssue {
      let text = text { try #require(Bool(false)) }
      #expect(text.contains("seed 3: `#require` failed, as its own issue says, after "))
      #expect(text.count < 200)
    } matching: {
      "\($0)".contains("Bool(false)")
    }
    let verbose = text { throw Verbose() }
    #expect(verbose.contains("the scenario threw no no no"))
    #expect(verbose.contains("…, after "))
    #expect(verbose.count < 500)
  }

  @Test("a task that is cancelled plays no further schedule")
  func cancellation() async {
    let task = Task { () -> ScheduleFailure? in
      withUnsafeCurrentTask { $0?.cancel() }
      do throws(ScheduleFailure) {
        try exploreSchedules(seeds: 5..<10) { _ in Issue.record("a schedule is played") }
        return nil
      } catch {
        return error
      }
    }
    let failure = await task.value
    #expect(failure?.kind == .cancelled)
    #expect(failure?.seed == 5)
    #expect(failure?.steps.isEmpty == true)
    #expect("\(failure as Any)".contains("cancelled before seed 5"))
  }
}
