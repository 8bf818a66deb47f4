import Synchronization

/// Takes the first answer that is given; if there is none in time, another.
///
/// A task group would wait for the children that are late, even when they are cancelled; hence a task
/// that nobody waits for, and a continuation that is resumed by the first to come.
///
/// When it returns there is an answer. The work may still run, and is cancelled.
///
/// **Cancellation.** A caller that is cancelled has the other answer at once.
///
/// - Parameters:
///   - duration: how long to wait.
///   - late: the answer if there is none in time, evaluated then.
///   - work: gives an answer, or does not.
/// - Returns: the answer.
package func withDeadline<Value: Sendable>(
  _ duration: Duration, else late: @escaping @autoclosure @Sendable () -> Value,
  _ work: @escaping @Sendable (_ answer: @escaping @Sendable (Value) -> Void) async -> Void
) async -> Value {
  let race = Race<Value>()
  return await withTaskCancellationHandler {
    race.add(
      Task {
        guard (try? await Task.sleep(for: duration)) != nil else { return }
        race.answer(late())
      })
    race.add(Task { await work { race.answer($0) } })
    return await race.value
  } onCancel: {
    race.answer(late())
  }
}

/// Keeps the first answer, and hands it to the one who waits.
private final class Race<Value: Sendable>: Sendable {
  private enum State {
    /// Nobody has answered; what is to be cancelled then, and who waits.
    case running([Task<Void, Never>], CheckedContinuation<Value, Never>?)
    case answered(Value)
  }

  private let state = Mutex(State.running([], nil))

  /// Adds a task that is of no use once there is an answer.
  func add(_ task: Task<Void, Never>) {
    let isOver = state.withLock { state in
      guard case .running(let tasks, let continuation) = state else { return true }
      state = .running(tasks + [task], continuation)
      return false
    }
    if isOver { task.cancel() }
  }

  func answer(_ value: Value) {
    let (tasks, continuation) = state.withLock {
      state -> ([Task<Void, Never>], CheckedContinuation<Value, Never>?) in
      guard case .running(let tasks, let continuation) = state else { return ([], nil) }
      state = .answered(value)
      return (tasks, continuation)
    }
    continuation?.resume(returning: value)
    for task in tasks { task.cancel() }
  }

  /// The first answer; to be asked for once.
  var value: Value {
    get async {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state -> Value? in
          switch state {
          case .running(let tasks, _):
            state = .running(tasks, continuation)
            return nil
          case .answered(let value):
            return value
          }
        }
        if let answer { continuation.resume(returning: answer) }
      }
    }
  }
}
