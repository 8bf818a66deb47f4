import Synchronization

/// Takes the first answer that is given; if there is none in time, another.
///
/// A task group would wait for the children that are late, even when they are cancelled; hence a task
/// that nobody waits for, and a continuation that is resumed by whoever comes first.
func withDeadline<Value: Sendable>(
  _ duration: Duration, else late: Value,
  _ work: @escaping @Sendable (_ answer: @escaping @Sendable (Value) -> Void) async -> Void
) async -> Value {
  await withCheckedContinuation { continuation in
    let race = Race(continuation)
    let timer = Task {
      guard (try? await Task.sleep(for: duration)) != nil else { return }
      race.answer(late)
    }
    Task {
      await work {
        race.answer($0)
        timer.cancel()
      }
    }
  }
}

/// Resumes a continuation once.
private final class Race<Value: Sendable>: Sendable {
  private let continuation: Mutex<CheckedContinuation<Value, Never>?>

  init(_ continuation: CheckedContinuation<Value, Never>) {
    self.continuation = Mutex(continuation)
  }

  func answer(_ value: Value) {
    continuation.withLock { $0.take() }?.resume(returning: value)
  }
}
