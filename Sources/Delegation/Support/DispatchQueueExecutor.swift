#if canImport(Dispatch)
  public import Dispatch

  /// An executor that runs tasks, or an actor, on a dispatch queue.
  ///
  /// To run a subscriber's handlers on a queue, subscribe it so:
  ///
  /// ```swift
  /// hub.subscribe(cache, to: StoreDelegate.self, on: DispatchQueueExecutor(cacheQueue))
  /// ```
  ///
  /// An executor of a serial queue can also be an actor's `unownedExecutor`. On a concurrent queue the handlers of
  /// different calls may run at the same time.
  public final class DispatchQueueExecutor: TaskExecutor, SerialExecutor {
    /// The queue that everything runs on.
    public let queue: DispatchQueue
    let tasks: DispatchQueueTaskExecutor

    /// Makes an executor for a queue.
    ///
    /// - Parameter queue: the queue.
    public init(_ queue: DispatchQueue) {
      (self.queue, tasks) = (queue, DispatchQueueTaskExecutor(queue))
    }

    /// Runs a job on the queue, after the jobs that were enqueued before.
    ///
    /// - Parameter job: the job, from the Swift runtime.
    public func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async {
        job.runSynchronously(
          isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
      }
    }

    /// Stops the program if the calling code does not run on the queue.
    public func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
  }

  /// An executor that runs handlers on a dispatch queue.
  ///
  /// ``DispatchQueueExecutor`` isolates its jobs to the queue, as an actor needs. There a handler's task would leave
  /// the isolation, and so the queue, at each call of a nonisolated function, and return with one more job each time.
  final class DispatchQueueTaskExecutor: TaskExecutor {
    let queue: DispatchQueue

    init(_ queue: DispatchQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }
#endif

/// The executor that runs a subscription's handlers: the one that the user named, or one that runs tasks on the same
/// queue with fewer jobs.
func handlerExecutor(for executor: (any TaskExecutor)?) -> (any TaskExecutor)? {
  #if canImport(Dispatch)
    if let executor = executor as? DispatchQueueExecutor { return executor.tasks }
  #endif
  return executor
}

/// Identifies where an executor runs its jobs: the same for all handler executors of one dispatch queue.
///
/// Compare identities only while the executors are alive.
func executorID(of executor: any TaskExecutor) -> ObjectIdentifier {
  #if canImport(Dispatch)
    if let executor = executor as? DispatchQueueTaskExecutor {
      return ObjectIdentifier(executor.queue)
    }
  #endif
  return ObjectIdentifier(executor)
}

extension Task where Failure == any Error {
  /// Starts a detached task, on an executor if one is given.
  ///
  /// `nil` is not passed on: a task with an explicit preference for no executor takes a lock at each switch.
  ///
  /// `work` has the type that the runtime calls, which may throw, and this function is inlined. Otherwise each closure
  /// would be wrapped in another one: one more allocation for each task.
  @discardableResult
  @inline(__always)
  static func startDetached(
    on executor: (any TaskExecutor)?, priority: TaskPriority? = nil,
    _ work: sending @escaping @isolated(any) () async throws -> Success
  ) -> Task {
    if let executor {
      Task.detached(executorPreference: executor, priority: priority, operation: work)
    } else {
      Task.detached(priority: priority, operation: work)
    }
  }
}
