import DelegationTesting
import Testing

@Suite("An exploration that explores nothing fails")
struct UnexploredTests {
  /// Goes on with a job though it has been stopped meanwhile.
  private actor Service {
    private var isRunning = true
    private(set) var isFaulty = false

    func handle() async {
      guard isRunning else { return }  // checks,
      await Task.yield()  // awaits,
      if !isRunning { isFaulty = true }  // and acts
    }

    func stop() { isRunning = false }
  }

  private static func failure(
    seeds: Range<UInt64> = 0..<1_000, strategy: SchedulingStrategy = .alternating,
    _ scenario: @escaping @Sendable (SeededExecutor, Service) async -> Void
  ) -> ScheduleFailure? {
    do throws(ScheduleFailure) {
      try exploreSchedules(seeds: seeds, strategy: strategy) { executor in
        let service = Service()
        await scenario(executor, service)
        if await service.isFaulty { throw Refusal() }
      }
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "one in which the scenario's own call came first in every schedule",
    arguments: [SchedulingStrategy.random, .priorities, .alternating])
  func ownCallFirst(strategy: SchedulingStrategy) {
    let failure = Self.failure(strategy: strategy) { _, service in
      async let job: Void = service.handle()
      await service.stop()
      await job
    }
    #expect(failure?.kind == .headStart)
    #expect(failure?.seed == 0)
    #expect(failure?.description.hasPrefix("no schedule failed, but one order was never") == true)
    let others = Self.failure(strategy: strategy) { executor, service in
      let tasks = (0..<3).map { _ in Task(executorPreference: executor) { await service.handle() } }
      await service.stop()
      for task in tasks { await task.value }
    }
    #expect(others?.kind == .headStart)
  }

  @Test("in a child task, or after the others have had a turn, the call competes")
  func competing() {
    let inChildren = Self.failure { _, service in
      async let job: Void = service.handle()
      async let stop: Void = service.stop()
      _ = await (job, stop)
    }
    #expect(inChildren?.kind == .threw)
    let afterYield = Self.failure { _, service in
      async let job: Void = service.handle()
      await Task.yield()
      await service.stop()
      await job
    }
    #expect(afterYield?.kind == .threw)
  }

  @Test("a call that no task competes with may come first")
  func alone() {
    let other = Self.failure { _, service in
      async let one: Void = Task.yield()
      async let two: Void = Task.yield()
      await service.stop()
      _ = await (one, two)
    }
    #expect(other == nil)
    let before = Self.failure { _, service in
      await service.stop()
      async let one: Void = service.handle()
      async let two: Void = service.handle()
      _ = await (one, two)
    }
    #expect(before == nil)
    // What the call itself resumes has waited elsewhere.
    let resumed = Self.failure { executor, service in
      let gate = Gate()
      let opener = Opener(gate)
      let task = Task(executorPreference: executor) { await gate.pass() }
      await opener.open()
      await task.value
    }
    #expect(resumed == nil)
  }

  private actor Opener {
    private let gate: Gate
    init(_ gate: Gate) { self.gate = gate }
    func open() { gate.open() }
  }

  @Test("one in which no job could run in place of another, unless it is one schedule")
  func uniform() {
    @Sendable func scenario(_ executor: SeededExecutor, _ service: Service) async {
      for _ in 0..<3 { await service.handle() }
    }
    let failure = Self.failure(seeds: 7..<9, scenario)
    #expect(failure?.kind == .uniform)
    #expect(failure?.seed == 7)
    #expect(failure?.description.hasPrefix("no schedule failed, but nothing was explored") == true)
    #expect(Self.failure(seeds: 7..<8, scenario) == nil)
  }

  @Test("kinds of failure have names")
  func names() {
    let kinds: [ScheduleFailure.Kind] = [
      .threw, .stuck, .endless, .cancelled, .uniform, .headStart,
    ]
    #expect("\(kinds)" == "[threw, stuck, endless, cancelled, uniform, headStart]")
    #expect("\([DriveFailure.Kind.stuck, .endless])" == "[stuck, endless]")
  }
}
