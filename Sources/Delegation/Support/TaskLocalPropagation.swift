/// A task-local value that notifications carry from their poster to the handlers.
///
/// ```swift
/// var configuration = DelegateHub.Configuration()
/// configuration.propagating = [.taskLocal(ServiceContext.$current)]
/// ```
public struct TaskLocalPropagation: Sendable {
  /// A value that was captured, ready to be bound around a handler.
  struct Captured: Sendable {
    let bind: @Sendable (() throws -> Bool) throws -> Bool
    let bindAsync:
      nonisolated(nonsending) @Sendable (nonisolated(nonsending) () async throws -> Bool)
        async throws -> Bool
  }

  let capture: @Sendable () -> Captured

  /// Carries the value of a task-local.
  ///
  /// - Parameter local: the task-local, by its projection, as `ServiceContext.$current`.
  /// - Returns: the propagation, for ``DelegateHub/Configuration/propagating``.
  public static func taskLocal<Value: Sendable>(
    _ local: TaskLocal<Value>
  ) -> TaskLocalPropagation {
    TaskLocalPropagation {
      let value = local.get()
      return Captured(
        bind: { body in try local.withValue(value) { try body() } },
        bindAsync: { body in try await local.withValue(value) { try await body() } })
    }
  }
}
