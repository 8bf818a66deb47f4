internal import Synchronization

/// One task that waits for a count of handlers to fall.
///
/// It is resumed when the count is no higher than the number of handlers that it *excuses*: those that
/// cannot end before it is resumed. Outside of handlers it excuses none.
///
/// Invariant: it is resumed once, with the first outcome. An outcome that comes before the task waits is
/// kept.
final class Waiter: Sendable {
  /// What a wait within a handler excuses.
  struct Excuse: Sendable {
    /// How many handlers are excused at most.
    ///
    /// It rises only by ``Waiter/reconsider()``: the excused handlers are chosen when the wait begins, and after
    /// that they end, unless notifications are handed over.
    var most: Int
    /// Counts the handlers that are excused now.
    var count: @Sendable () -> Int
  }

  private struct State: Sendable {
    var outcome: Bool?
    /// How often what is excused has changed, so that a count of it that began before is not kept.
    var revision = 0
    var continuation: CheckedContinuation<Bool, Never>?
  }

  private let state = Lock(State())
  private let mostExcused: Atomic<Int>
  private let countExcused: (@Sendable () -> Int)?

  /// Makes a waiter.
  ///
  /// - Parameter excuse: what it excuses; `nil` outside of handlers.
  init(excusing excuse: Excuse? = nil) {
    mostExcused = Atomic(excuse?.most ?? 0)
    countExcused = excuse?.count
  }

  /// Whether it never excuses a handler.
  var isStrict: Bool { countExcused == nil }

  /// The highest count at which this waiter may be resumed.
  var limit: Int { mostExcused.load(ordering: .relaxed) }

  /// The outcome that it was resumed with; `nil` as long as it waits.
  var outcome: Bool? { state.withLock { $0.outcome } }

  /// Resumes the task if the count is low enough.
  ///
  /// The count is read before the excused handlers are counted. A handler that ends in between is still
  /// in the count and no longer excused, which errs towards waiting; its end checks again.
  ///
  /// - Parameter count: reads the count.
  /// - Returns: whether the count was low enough.
  func tryFulfil(at count: () -> Int) -> Bool {
    let present = count()
    if present > 0 {
      guard let countExcused, present <= limit else { return false }
      let revision = state.withLock { $0.revision }
      let excused = countExcused()
      state.withLock { state in
        if state.revision == revision { mostExcused.store(excused, ordering: .relaxed) }
      }
      guard present <= excused else { return false }
    }
    resume(true)
    return true
  }

  /// Has what is excused counted anew at the next try.
  ///
  /// The waiter's place among others depends on its limit, which this raises.
  func reconsider() {
    state.withLock { state in
      state.revision += 1
      mostExcused.store(.max, ordering: .relaxed)
    }
  }

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
