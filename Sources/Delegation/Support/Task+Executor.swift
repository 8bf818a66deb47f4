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

  /// Runs a child task on an executor, and awaits it.
  ///
  /// It is one job there; a change of the current task's preference would be three.
  nonisolated(nonsending) static func runChild<Result: Sendable>(
    on executor: any TaskExecutor,
    _ work: nonisolated(nonsending) @escaping @Sendable () async -> Result
  ) async -> Result {
    await withTaskGroup(of: Result.self) { group in
      group.addTask(executorPreference: executor) { await work() }
      guard let result = await group.next() else { fatalError("Delegation: a child task is lost") }
      return result
    }
  }
}
