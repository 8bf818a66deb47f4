/// One task that waits for a count of handlers to fall.
///
/// It is resumed when the count is no higher than the number of handlers that it *excuses*: those that
/// cannot end before it is resumed. Outside of handlers it excuses none.
///
/// Invariant: it is resumed once, with the first outcome. An outcome that comes before the task waits is
/// kept.
final class Waiter: Sendable {
  private let state = Lock<(outcome: Bool?, continuation: CheckedContinuation<Bool, Never>?)>(
    (nil, nil))
  /// Counts the handlers that are excused now.
  let countExcused: @Sendable () -> Int

  init(excusing countExcused: @escaping @Sendable () -> Int = { 0 }) {
    self.countExcused = countExcused
  }

  /// The outcome that it was resumed with; `nil` as long as it waits.
  var outcome: Bool? { state.withLock { $0.outcome } }

  /// Resumes the task, unless that has been done.
  ///
  /// - Parameter isReached: the outcome: whether the goal of the wait was reached.
  func resume(_ isReached: Bool) {
    let continuation = state.withLock { state in
      if state.outcome == nil { state.outcome = isReached }
      return state.continuation.take()
    }
    continuation?.resume(returning: isReached)
  }

  /// Waits until ``resume(_:)`` is called.
  ///
  /// For one task.
  ///
  /// - Returns: whether the goal of the wait was reached.
  nonisolated(nonsending) func wait() async -> Bool {
    await withCheckedContinuation { continuation in
      let outcome = state.withLock { state in
        if state.outcome == nil { state.continuation = continuation }
        return state.outcome
      }
      if let outcome { continuation.resume(returning: outcome) }
    }
  }
}
