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
}
