/// Runs the tasks of one schedule, in an order that a seed decides.
///
/// ``exploreSchedules(seeds:strategy:stepLimit:patience:_:)`` makes one for each schedule and passes it to the
/// scenario, which passes it to everything that is to take part:
///
/// ```swift
/// await withTaskGroup { group in
///   group.addTask { events.record("a child") }  // inherits the executor
///   group.addTask { events.record("another") }
/// }
/// let task = Task(executorPreference: executor) { events.record("a task") }
/// await task.value
/// ```
///
/// These take part: the scenario itself, every task that prefers the executor (`Task(executorPreference: executor)`),
/// their child tasks, the default actors that they enter, and all work of a hub with this executor in its
/// configuration. A plain `Task { }` does not inherit the preference. An `isolated deinit` runs elsewhere, and so does
/// its actor from then on.
///
/// **Order.** One job at a time runs on the exploring thread; the seed chooses the next among all that could run. Every
/// job is chosen at some time: the oldest comes next when it has been passed over for 500 steps, and 32 more for each
/// job that waited when it came, itself included, but at most for 4,000.
public final class SeededExecutor: TaskExecutor {
  /// The number that decides the schedule.
  public let seed: UInt64

  /// The schedule's clock.
  ///
  /// It stands still while a job can run. When none can, it advances to the next deadline. So deadlines come when
  /// everything else waits. If a deadline may also come at another moment, let a task of the scenario call
  /// ``ManualClock/advance(by:)``.
  public let clock = ManualClock()

  let arrivals = JobQueue<Schedule.Entry>()
  private let thread = Platform.threadID

  /// Makes the executor of a schedule that the current thread plays.
  init(seed: UInt64) {
    self.seed = seed
  }

  /// Takes a job, to be run when the schedule chooses it.
  ///
  /// - Parameter job: the job, from the Swift runtime.
  public func enqueue(_ job: consuming ExecutorJob) {
    add(UnownedJob(job), on: asUnownedTaskExecutor())
  }

  /// Whether the current thread is the one that plays the schedule.
  var isOnItsThread: Bool { Platform.threadID == thread }

  fileprivate func add(_ job: UnownedJob, on executor: UnownedTaskExecutor) {
    arrivals.append(
      Schedule.Entry(job: job, executor: executor, isForeign: !isOnItsThread))
  }

  /// Makes another executor whose jobs the same schedule chooses from.
  ///
  /// For code with an executor of its own, for instance a subscriber with `on:`. Its jobs run in any order, as on a
  /// concurrent executor; a serial queue would keep their order.
  ///
  /// - Returns: the other executor.
  public func makeLane() -> Lane { Lane(of: self) }

  /// An executor whose jobs are part of a schedule.
  public final class Lane: TaskExecutor {
    private let schedule: SeededExecutor

    fileprivate init(of schedule: SeededExecutor) {
      self.schedule = schedule
    }

    /// Takes a job, to be run when the schedule chooses it.
    ///
    /// - Parameter job: the job, from the Swift runtime.
    public func enqueue(_ job: consuming ExecutorJob) {
      schedule.add(UnownedJob(job), on: asUnownedTaskExecutor())
    }
  }
}
