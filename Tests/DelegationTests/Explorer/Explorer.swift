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
/// How many schedules are tried, and which, says ``Effort``.
///
/// `@unchecked Sendable`: only the driving thread uses what changes.
final class Explorer: @unchecked Sendable {
  let executor: SeededExecutor
  /// A second executor whose jobs the same schedule runs.
  let lane: SeededExecutor.Lane
  /// A third one, which callers may prefer and which may be held up.
  let callersLane: SeededExecutor.Lane
  private var schedule: Schedule

  /// Whether the job that runs is one of the lane's.
  private(set) var isOnLane = false
  /// Whether it is one of the callers' lane.
  private(set) var isOnCallersLane = false
  /// Whether the jobs of the callers' lane are not run.
  private(set) var isHeld = false
  private var held: [Schedule.Entry] = []

  /// How a schedule's jobs can be chosen.
  static let strategies: [SchedulingStrategy] = [.random, .priorities]

  init(_ strategy: SchedulingStrategy, seed: UInt64) {
    executor = SeededExecutor(seed: seed)
    lane = executor.makeLane()
    callersLane = executor.makeLane()
    schedule = Schedule(on: executor, strategy: strategy)
  }

  /// How many jobs have been run.
  var steps: Int { schedule.steps.count }

  /// Whether this is the driving thread.
  var isCurrent: Bool { executor.isOnItsThread }

  /// Whether jobs have come from other threads, in an order that no seed decides.
  var hasForeignJobs: Bool { schedule.foreignJobs > 0 }

  /// Holds up the callers' lane.
  func hold() { isHeld = true }

  /// Lets the callers' lane go on, with the jobs that came first.
  func release() { isHeld = false }

  /// Chooses the job that comes next, if there is one that may run.
  func next() -> Schedule.Entry? {
    if !isHeld, !held.isEmpty { return held.removeFirst() }
    while let entry = schedule.next() {
      guard isHeld, entry.executor == callersLane.asUnownedTaskExecutor() else { return entry }
      held.append(entry)
    }
    return nil
  }

  /// Runs a job.
  func run(_ entry: Schedule.Entry) {
    isOnLane = entry.executor == lane.asUnownedTaskExecutor()
    isOnCallersLane = entry.executor == callersLane.asUnownedTaskExecutor()
    entry.job.runSynchronously(on: entry.executor)
    (isOnLane, isOnCallersLane) = (false, false)
  }
}
