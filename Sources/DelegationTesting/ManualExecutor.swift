/// Runs the jobs of its tasks only when told to, one after another, on the thread that tells it.
///
/// With a hub on one, "nothing has happened yet" is an assertion instead of a race:
///
/// ```swift
/// let executor = ManualExecutor()
/// let hub = DelegateHub(on: executor)
/// hub.subscribe(spy, to: DoorDelegate.self)
///
/// hub.notify(DoorDelegate.self) { $0.didEnter("Alice") }
/// #expect(spy.guests.events == [])  // nothing runs before it is told to
///
/// executor.run()
/// #expect(spy.guests.events == ["Alice"])
/// ```
///
/// A call that has to be awaited is driven to its end by ``drive(advancing:patience:stepLimit:fileID:line:_:)``,
/// or as far as it goes by ``start(_:)``.
///
/// What runs on it: every task that prefers it (`Task(executorPreference: executor)`), its child tasks,
/// the default actors that they enter, and all work of a hub whose `DelegateHub.Configuration.executor`
/// it is. A plain `Task { }` does not inherit the preference, and runs elsewhere.
///
/// **Order.** Jobs run in the order in which they came.
///
/// **Isolation.** Jobs may come from any thread. One thread at a time may run them, because a task does not
/// expect two threads of its executor at the same time.
public final class ManualExecutor: TaskExecutor {
  let jobs = JobQueue<UnownedJob>()

  /// Makes an executor without jobs.
  public init() {}

  /// Takes a job, to be run when the executor is told to.
  ///
  /// - Parameter job: the job, from the Swift runtime.
  public func enqueue(_ job: consuming ExecutorJob) {
    jobs.append(UnownedJob(job))
  }

  /// How many jobs wait to be run.
  public var pendingJobs: Int { jobs.count }

  /// Runs the job that has waited longest, if there is one.
  ///
  /// - Returns: whether there was one.
  @discardableResult
  public func runNext() -> Bool {
    guard let job = jobs.popFirst() else { return false }
    job.runSynchronously(on: asUnownedTaskExecutor())
    return true
  }

  /// Runs jobs until none is left, including those that come meanwhile.
  ///
  /// When it returns, everything on this executor has gone as far as it can. A task that yields again and
  /// again keeps it from returning; with a limit it returns in any case, if each job does.
  ///
  /// - Parameter limit: how many jobs to run at most.
  /// - Returns: how many jobs were run.
  @discardableResult
  public func run(atMost limit: Int = .max) -> Int {
    var count = 0
    while count < limit, runNext() { count += 1 }
    return count
  }
}

extension DelegateHub {
  /// Makes a hub whose work runs on a test's executor and whose time is a test's.
  ///
  /// - Parameters:
  ///   - executor: where its work and the handlers of its subscribers run.
  ///   - clock: the clock of deadlines; by default one that stands still, so that no deadline comes.
  public init(on executor: any TaskExecutor, clock: any Clock<Duration> = ManualClock()) {
    var configuration = Configuration()
    configuration.executor = executor
    configuration.clock = clock
    self.init(configuration)
  }
}
