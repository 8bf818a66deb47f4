import DelegationTesting
import Testing

/// These leave tasks behind that stay suspended for ever, so nobody looks for leaks here.
@Suite("A scenario with a task that nothing ends", .inTurn)
struct EndlessExplorerTests {
  /// What polls by a clock, and does not look at the cancellation.
  @Sendable private static func poll(by clock: ManualClock, every pause: Duration) async {
    while true { try? await clock.sleep(for: pause) }
  }

  @Test(
    "a scenario that polls for ever is cut off, with its seed",
    arguments: [.seconds(1), .zero] as [Duration], [4, 5] as [UInt64])
  func polling(pause: Duration, seed: UInt64) {
    let failure = #expect(throws: ScheduleFailure.self) {
      try exploreSchedules(seeds: seed..<seed + 10, stepLimit: 1000) { executor in
        await Self.poll(by: executor.clock, every: pause)
      }
    }
    #expect(failure?.kind == .endless && failure?.seed == seed)
  }

  @Test("a ticker that a scenario leaves behind holds up nothing, whether it passes or throws")
  func ticker() throws {
    @Sendable func scenario(_ executor: SeededExecutor, _ error: Refusal?) async throws {
      Task(executorPreference: executor) {
        await Self.poll(by: executor.clock, every: .seconds(1))
      }
      try await executor.clock.sleep(for: .seconds(3))
      if let error { throw error }
    }
    let exploration = try exploreSchedules(seeds: 0..<3) { try await scenario($0, nil) }
    #expect(exploration.schedules == 3)
    let failure = #expect(throws: ScheduleFailure.self) {
      try exploreSchedules(seeds: 3..<9) { try await scenario($0, Refusal()) }
    }
    #expect(failure?.kind == .threw && failure?.seed == 3)
  }
}
