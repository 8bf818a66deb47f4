@testable import DelegationTesting

/// A schedule of `DelegationTesting`, job by job: what `exploreSchedules` does, for scenarios that look at
/// the hub in between.
///
/// With a hub, its callers and its subscribers on one, a run is a *schedule*: nothing happens at the
/// same time, what comes next is chosen among all the jobs that could, and the same seed chooses the
/// same. Tasks can be interleaved wherever they suspend, so handlers and callers give way now and then.
///
/// ``Schedules`` plays many small scenarios with it. When one of them goes wrong, it prints the
/// schedule's seed and what happened; to see exactly that again:
///
///     DELEGATION_SEED=… swift test --filter Explorer
///
/// The waits of all hubs are in one list, so another test could let one of ours go on: schedules with a
/// hub are played in a process of their own.
///
/// `DELEGATION_SCHEDULES` sets how many schedules all suites together try, and
/// `DELEGATION_FIRST_SEED` which one is the first.
///
/// `@unchecked Sendable`: only the driving thread uses what changes.
final class Explorer: @unchecked Sendable {
  let executor: SeededExecutor
  /// A second executor whose jobs the same schedule runs.
  let lane: SeededExecutor.Lane
  private var schedule: Schedule

  /// Whether the job that runs is one of the lane's.
  private(set) var isOnLane = false

  /// How a schedule's jobs can be chosen.
  static let strategies: [SchedulingStrategy] = [.random, .priorities]

  init(_ strategy: SchedulingStrategy, seed: UInt64) {
    executor = SeededExecutor(seed: seed)
    lane = executor.makeLane()
    schedule = Schedule(on: executor, strategy: strategy)
  }

  /// How many jobs have been run.
  var steps: Int { schedule.steps.count }

  /// Whether this is the driving thread.
  var isCurrent: Bool { executor.isOnItsThread }

  /// Whether jobs have come from other threads, in an order that no seed decides.
  var hasForeignJobs: Bool { schedule.foreignJobs > 0 }

  /// Chooses the job that comes next, if there is one.
  func next() -> Schedule.Entry? { schedule.next() }

  /// Runs a job.
  func run(_ entry: Schedule.Entry) {
    isOnLane = entry.executor == lane.asUnownedTaskExecutor()
    entry.job.runSynchronously(on: entry.executor)
    isOnLane = false
  }
}
