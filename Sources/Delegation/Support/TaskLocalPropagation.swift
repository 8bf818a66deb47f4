/// A task-local value that notifications carry from their poster to the handlers.
///
/// ```swift
/// var configuration = DelegateHub.Configuration()
/// configuration.propagating = [.taskLocal(ServiceContext.$current)]
/// ```
public struct TaskLocalPropagation: Sendable {
  /// What runs a handler or a hook with a captured task-local bound.
  @usableFromInline typealias Captured =
    nonisolated(nonsending) @Sendable (nonisolated(nonsending) () async -> Void) async -> Void

  /// The captured values of all task-locals that a hub propagates.
  @usableFromInline typealias Context = [Captured]

  let capture: @Sendable () -> Captured

  /// Propagates the value of a task-local.
  ///
  /// - Parameter local: the task-local, by its projection, as `ServiceContext.$current`.
  /// - Returns: the propagation, for ``DelegateHub/Configuration/propagating``.
  public static func taskLocal<Value: Sendable>(_ local: TaskLocal<Value>) -> TaskLocalPropagation {
    TaskLocalPropagation {
      let value = local.get()
      return { body in await local.withValue(value) { await body() } }
    }
  }
}

extension TaskLocalPropagation.Context {
  /// Runs a closure with the captured values bound, from an index on.
  nonisolated(nonsending) func bind(
    from index: Int = 0, _ body: nonisolated(nonsending) () async -> Void
  ) async {
    guard index < count else { return await body() }
    await self[index]({ await bind(from: index + 1, body) })
  }
}
