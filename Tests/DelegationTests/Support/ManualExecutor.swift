@testable import Delegation

/// Runs its tasks' jobs only when told to, one after another, on the thread that tells it.
///
/// With a hub and its callers on one, everything goes as far as it can on a single thread and then
/// stands still, so that "it has not returned yet" can be asserted without waiting.
final class ManualExecutor: TaskExecutor {
  private let jobs = Lock<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// How many jobs wait to be run.
  var pending: Int { jobs.withLock { $0.count } }

  /// Runs jobs until none is left.
  func run() {
    while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  /// Starts something on this executor and runs it as far as it goes.
  func start(_ body: @escaping @Sendable () async -> Void) -> Running {
    let running = Running(on: self, body)
    run()
    return running
  }

  /// Something that was started by hand.
  final class Running: Sendable {
    private let completed: Recorder<Void>
    private let task: Task<Void, Never>

    fileprivate init(on executor: ManualExecutor, _ body: @escaping @Sendable () async -> Void) {
      let completed = Recorder<Void>()
      self.completed = completed
      task = Task(executorPreference: executor) {
        await body()
        completed.record(())
      }
    }

    /// Whether it has returned.
    var isOver: Bool { !completed.history.isEmpty }

    /// Cancels its task.
    func cancel() { task.cancel() }
  }
}

extension DelegateHub {
  /// A hub that works only when told to.
  init(on executor: any TaskExecutor) {
    var configuration = Configuration()
    configuration.executor = executor
    self.init(configuration)
  }
}
