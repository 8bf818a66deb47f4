/// One order of all the jobs of an executor, chosen job by job.
///
/// Used only by the thread that made the executor.
struct Schedule {
  /// A job that is to be run.
  struct Entry: Sendable {
    let job: UnownedJob
    let executor: UnownedTaskExecutor
    /// Whether the job has come from another thread, at a time that no seed decides.
    let isForeign: Bool
    /// The runtime's number of the task; zero if the job is an actor's turn, or resumes a task that yielded.
    let id: UInt64
    /// Whether it is an actor's turn.
    let isTurn: Bool
    /// The address of the actor whose turn it is; -1 if it is not known.
    private let actor: Int
    /// The task, by the order of the tasks' first jobs; for a job of no task, the task that was running when the job
    /// came.
    var task: Int?
    /// How many steps there had been when the job came.
    var arrival = 0
    /// For how many steps the job may be passed over.
    var patience = 0
    /// How many jobs had come before.
    var number = 0

    init(job: UnownedJob, executor: UnownedTaskExecutor, isForeign: Bool) {
      self.job = job
      self.executor = executor
      self.isForeign = isForeign
      id = jobTaskID(job)
      // The kinds from 192 on are actors' turns, and then comes the kind that resumes a task that yielded. A job of the
      // first kind is in the actor's memory; a job of the second kind refers to the actor after a header of eight
      // words. A reference to a job is its address.
      let kind = jobFlags(job) & 0xFF
      isTurn = 192..<195 ~= kind
      let words = unsafeBitCast(job, to: UnsafePointer<Int>.self)
      actor =
        kind == 192
        ? Int(bitPattern: words) : kind == 193 && MemoryLayout<Int>.size == 8 ? words[8] : -1
    }

    /// The actor, or the task, that runs; they have different numbers.
    var place: Int { isTurn ? actor : task ?? -2 }
  }

  let executor: SeededExecutor
  private var ready = ReadyJobs()
  private var tasks: [UInt64: Int] = [:]
  private var chooser: Chooser
  private var latest: Entry?

  /// Whether two jobs could run at some step, so that there was a choice.
  private(set) var hasChosen = false
  private(set) var headStarts = HeadStarts()
  /// The tasks that have run, by step; `nil` for a job from another thread that belongs to no task.
  private(set) var steps: [Int?] = []
  /// How many jobs have come from other threads.
  private(set) var foreignJobs = 0

  /// How many jobs are run, at most, after a schedule has ended or failed.
  static let cleaningSteps = 10_000

  /// For how many steps a job may be passed over, if that many wait when it comes, itself included.
  ///
  /// Jobs that come later do not change this: if each step brings a job, the bound would never be reached.
  static func patience(among count: Int) -> Int { min(500 + 32 * count, 4_000) }

  /// Whether there is a job that could run.
  var hasJobs: Bool { !ready.isEmpty || executor.arrivals.count > 0 }

  /// A hash of the steps.
  var fingerprint: UInt64 {
    steps.reduce(0xCBF2_9CE4_8422_2325) { hash, task in
      let mixed = (hash ^ UInt64((task ?? -1) + 2)) &* 0x9E37_79B9_7F4A_7C15
      return mixed ^ mixed >> 29
    }
  }

  init(on executor: SeededExecutor, strategy: SchedulingStrategy) {
    self.executor = executor
    chooser = Chooser(strategy, seed: executor.seed)
  }

  /// Chooses the job that comes next, if there is one.
  mutating func next() -> Entry? {
    admit()
    if ready.isEmpty { return nil }
    if ready.count > 1 { hasChosen = true }
    let entry = ready.remove(chooser.choose(among: ready, at: steps.count + 1))
    steps.append(entry.task)
    latest = entry
    return entry
  }

  /// Runs the job that comes next.
  ///
  /// - Returns: whether there was one.
  mutating func runNext() -> Bool {
    guard let entry = next() else { return false }
    entry.job.runSynchronously(on: entry.executor)
    return true
  }

  private mutating func admit() {
    var entries = Array(executor.arrivals.takeAll())
    let known = tasks.count
    // Jobs that were resumed together may come in the order of a hash table, which differs between processes. The
    // runtime numbers tasks in the order in which they are made.
    for index in entries.indices.sorted(by: { entries[$0].id < entries[$1].id }) {
      var entry = entries[index]
      if entry.isForeign { foreignJobs += 1 }
      if entry.id != 0 {
        entry.task = number(of: entry.id)
      } else if !entry.isForeign {
        entry.task = steps.last ?? nil
      }
      entry.arrival = steps.count
      entry.patience = Self.patience(among: ready.count + 1)
      entries[index] = ready.add(entry)
      chooser.add(entries[index])
    }
    guard let job = latest.take() else { return }
    headStarts.note(job, bringing: entries.filter { !$0.isForeign }, starting: known..<tasks.count)
  }

  /// A number for a task that is the same in each process.
  private mutating func number(of id: UInt64) -> Int {
    if let number = tasks[id] { return number }
    tasks[id] = tasks.count
    return tasks.count - 1
  }
}

/// The runtime's flags of a job; the lowest eight bits are its kind.
@_silgen_name("swift_task_getJobFlags")
private func jobFlags(_ job: UnownedJob) -> UInt
