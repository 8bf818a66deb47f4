/// How the library starts tasks on executors.
extension Task where Success == Void, Failure == Never {
  /// Starts a detached task, on an executor if one is given.
  ///
  /// It does not pass `nil` on: a task with an explicit preference for no executor takes a lock at each
  /// switch to find that out.
  ///
  /// - Returns: the task.
  @discardableResult
  @usableFromInline
  static func startDetached(
    on executor: (any TaskExecutor)?, priority: TaskPriority? = nil,
    _ work: @escaping @Sendable () async -> Void
  ) -> Task {
    if let executor {
      Task.detached(executorPreference: executor, priority: priority, operation: work)
    } else {
      Task.detached(priority: priority, operation: work)
    }
  }

  /// Runs a task on an executor, and awaits it; it is cancelled and escalated with the current one.
  ///
  /// It is one job there; a change of the current task's preference would be three. It is not a child task: the
  /// runtime cancels a child without keeping it. An executor that runs jobs at once may let it end meanwhile, and
  /// the runtime stops the program.
  ///
  /// - Parameters:
  ///   - executor: where it runs.
  ///   - isInPlace: whether the thread that cancels the current task may run the other one's cancellation handlers.
  ///   - work: what it does.
  /// - Returns: what that returns.
  static func runAttached<Result: Sendable>(
    on executor: any TaskExecutor, cancelledInPlace isInPlace: Bool,
    _ work: @escaping @Sendable () async -> Result
  ) async -> Result {
    let isCancelled = withUnsafeCurrentTask { $0?.isCancelled ?? false }
    let task = _Concurrency.Task<Result, Never>(executorPreference: executor) {
      if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
      return await work()
    }
    return await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      if isInPlace { return Self.cancel(task) }
      Self.startDetached(on: nil, priority: .high) { Self.cancel(task) }
    }
  }

  /// Cancels a task, and keeps it meanwhile: all others may release it while its cancellation handlers run.
  @inline(never)
  private static func cancel<Result: Sendable>(_ task: consuming _Concurrency.Task<Result, Never>) {
    task.cancel()
  }
}
