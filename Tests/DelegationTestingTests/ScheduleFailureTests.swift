import DelegationTesting
import Testing

@Suite("How a schedule fails", .inTurn)
struct ScheduleFailureTests {
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
    #expect(failure?.kind == .stuck && failure?.seed == 7 && failure?.error == nil)
    #expect(cancelled.events == [7])
    #expect(failure?.description.hasPrefix("seed 7: the scenario is stuck after ") == true)
  }

  @Test("what does not end is cut off: a scenario, or what it leaves behind", arguments: 0..<3)
  func endless(seed: UInt64) {
    let stop = Recorder<Void>()
    let failure = #expect(throws: ScheduleFailure.self) {
      try replaySchedule(seed: seed, stepLimit: 1000) { executor in
        while seed < 2 { if Task.isCancelled { return } else { await Task.yield() } }
        Task(executorPreference: executor) {
          for _ in 0..<5000 { await Task.yield() }
          stop.record(())
        }
      }
    }
    #expect(failure?.kind == .endless && failure?.steps.count == 1000)
    #expect(failure?.description.contains("`stepLimit`") == true)
    // It is given some more steps, to end.
    #expect(stop.count == (seed == 2 ? 1 : 0))
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
    #expect(verbose.contains("the scenario threw no no no") && verbose.contains("…, after "))
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
    #expect(failure?.kind == .cancelled && failure?.seed == 5 && failure?.steps.isEmpty == true)
    #expect("\(failure as Any)".contains("cancelled before seed 5"))
  }
}
