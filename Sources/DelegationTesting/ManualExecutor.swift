/// Runs the jobs of its tasks only when told to, one after another, on the thread that tells it.
///
/// With a hub on such an executor, "nothing has happened yet" is an assertion instead of a race:
///
/// ```swift
/// let executor = ManualExecutor()
/// let hub = DelegateHub(on: executor)
/// hub.subscribe(spy, to: DoorDelegate.self)
///
/// hub[DoorDelegate.self].notify { $0.didEnter("Alice") }
/// #expect(spy.guests.events == [])  // nothing runs before it is told to
///
/// executor.run()
/// #expect(spy.guests.events == ["Alice"])
/// ```
///
/// To run a call that must be awaited, use ``drive(advancing:patience:stepLimit:fileID:line:_:)``, which runs it to its
/// end, or ``start(_:)``, which runs it as far as it goes. A plain `await` on such a hub hangs, because nobody runs the
/// executor meanwhile.
///
/// Every task runs on it that prefers it (`Task(executorPreference: executor)`), with its child tasks, the default
/// actors that they enter, and all work of a hub with this executor in its configuration. A plain `Task { }` does not
/// inherit the preference, and runs elsewhere.
///
/// **Order.** Jobs run in the order in which they came.
///
/// **Isolation.** Jobs may come from any thread. Only one thread at a time may run them.
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
  /// When it returns, everything on this executor has gone as far as it can. Without a limit it does not return if a
  /// task yields again and again.
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
  ///   - clock: the clock of deadlines; by default a clock that stands still, so no deadline comes.
  public init(on executor: any TaskExecutor, clock: any Clock<Duration> = ManualClock()) {
    var configuration = Configuration()
    configuration.executor = executor
    configuration.clock = clock
    self.init(configuration)
  }
}
