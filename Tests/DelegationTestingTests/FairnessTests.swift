import Testing

@testable import DelegationTesting

@Suite("No job waits for ever", .inTurn)
struct FairnessTests {
  @Test(
    "no job is passed over more often than the bound says", arguments: strategies.prefix(2))
  func bound(strategy: SchedulingStrategy) throws {
    for seed in seeds(20) {
      let executor = SeededExecutor(seed: seed)
      var schedule = Schedule(on: executor, strategy: strategy)
      let tasks = (0..<10).map { _ in
        Task(executorPreference: executor) {
          while !Task.isCancelled { await Task.yield() }
        }
      }
      var longest = 0
      for _ in 0..<5000 {
        let next = schedule.next()
        let entry = try #require(next)
        longest = max(longest, schedule.steps.count - entry.arrival)
        entry.job.runSynchronously(on: entry.executor)
      }
      // Those that are overdue at the same time come one after another.
      #expect(longest <= Schedule.patience(among: 10) + 10, "seed \(seed)")
      #expect(Set(schedule.steps).count == 10)
      for task in tasks { task.cancel() }
      while schedule.runNext() {}
    }
  }

  @Test(
    "a job comes in time though each step brings another one", arguments: strategies.prefix(2))
  func growing(strategy: SchedulingStrategy) throws {
    let exploration = try exploreSchedules(
      seeds: 0..<40, strategy: strategy, stepLimit: 5_000
    ) { executor in
      let done = Recorder<Void>()
      let setter = Task(executorPreference: executor) { done.record(()) }
      await withDiscardingTaskGroup { group in
        while done.count == 0 {
          group.addTask {}
          await Task.yield()
        }
      }
      await setter.value
    }
    #expect(exploration.schedules == 40)
  }
}
