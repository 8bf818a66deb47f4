/// How the library starts tasks on executors.
extension Task where Failure == any Error {
  /// Starts a detached task, on an executor if one is given.
  ///
  /// It does not pass `nil` on: a task with an explicit preference for no executor takes a lock at each
  /// switch to find that out.
  ///
  /// The work has the type that the runtime calls, down to the error that none throws, and this is inlined, so a
  /// closure is not wrapped in another one: that would be one allocation more for each task.
  ///
  /// - Returns: the task.
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
