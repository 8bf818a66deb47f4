#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif
@testable import Delegation

/// Runs its tasks' jobs one at a time, on the thread that drives it, in an order that a seed decides.
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
/// `@unchecked Sendable`: all but `arrivals` is used by the driving thread alone.
final class Explorer: TaskExecutor, @unchecked Sendable {
  /// A second executor whose jobs the same explorer runs.
  final class Lane: TaskExecutor {
    private let explorer: Explorer

    fileprivate init(of explorer: Explorer) {
      self.explorer = explorer
    }

    func enqueue(_ job: consuming ExecutorJob) {
      explorer.add(UnownedJob(job), on: asUnownedTaskExecutor(), isLane: true)
    }
  }

  struct Entry: Sendable {
    let job: UnownedJob
    let executor: UnownedTaskExecutor
    let isLane: Bool
    /// The task, by the order in which tasks have come up.
    var task = 0
  }

  private struct Arrivals: Sendable {
    var entries: [Entry] = []
    var hasForeign = false
  }

  private let arrivals = Lock(Arrivals())
  private let thread = pthread_self()
  private var ready: [Entry] = []
  private var taskIDs: [UInt64] = []
  private var strategy: Strategy

  /// Whether the job that runs is one of a lane's.
  private(set) var isOnLane = false
  /// How many jobs have been run.
  private(set) var steps = 0
  init(_ strategy: Strategy) {
    self.strategy = strategy
  }

  func makeLane() -> Lane { Lane(of: self) }

  func enqueue(_ job: consuming ExecutorJob) {
    add(UnownedJob(job), on: asUnownedTaskExecutor(), isLane: false)
  }

  private func add(_ job: UnownedJob, on executor: UnownedTaskExecutor, isLane: Bool) {
    let entry = Entry(job: job, executor: executor, isLane: isLane)
    arrivals.withLock { arrivals in
      arrivals.entries.append(entry)
      if !isCurrent { arrivals.hasForeign = true }
    }
  }

  /// Whether this is the driving thread.
  var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }

  /// Whether jobs have come from other threads, in an order that no seed decides.
  var hasForeignJobs: Bool { arrivals.withLock { $0.hasForeign } }

  /// Chooses the job that comes next, if there is one.
  func next() -> Entry? {
    admit()
    return ready.isEmpty ? nil : ready.remove(at: strategy.choose(among: ready))
  }

  /// Runs a job.
  func run(_ entry: Entry) {
    steps += 1
    isOnLane = entry.isLane
    entry.job.runSynchronously(on: entry.executor)
    isOnLane = false
  }

  private func admit() {
    var entries = arrivals.withLock { arrivals in
      defer { arrivals.entries.removeAll(keepingCapacity: true) }
      return arrivals.entries
    }
    // The library may let several go on at once, in the order of a hash table.
    if entries.count > 1 { entries.sort { jobTaskID($0.job) < jobTaskID($1.job) } }
    for var entry in entries {
      entry.task = ordinal(of: jobTaskID(entry.job))
      ready.append(entry)
    }
  }

  /// A number for a task that does not depend on what else the process does.
  private func ordinal(of id: UInt64) -> Int {
    if let ordinal = taskIDs.lastIndex(of: id) { return ordinal }
    taskIDs.append(id)
    return taskIDs.count - 1
  }
}

/// The runtime's number for the task that a job is a part of.
@_silgen_name("swift_task_getJobTaskId")
private func jobTaskID(_ job: UnownedJob) -> UInt64
