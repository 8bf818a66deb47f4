internal import Synchronization

/// One task that waits for a count of handlers to fall.
///
/// It goes on when the count is no higher than the number of handlers that it *excuses*: those that
/// cannot end before it goes on. Outside of handlers that is none.
///
/// Invariant: it is resumed once, with the first outcome; one that comes before the task waits is kept
/// for it.
final class Waiter: Sendable {
  /// What a wait within a handler excuses.
  struct Excuse: Sendable {
    /// How many handlers are excused at most.
    ///
    /// What a wait excuses is decided when the wait begins, and handlers only end: it never rises.
    var most: Int
    /// Finds out how many are excused now.
    var count: @Sendable () -> Int
  }

  private struct State: Sendable {
    var outcome: Bool?
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

  /// Whether it never excuses anybody.
  var isStrict: Bool { countExcused == nil }

  /// The highest count at which this waiter may go on.
  var limit: Int { mostExcused.load(ordering: .relaxed) }

  /// What it was resumed with; `nil` as long as it waits.
  var outcome: Bool? { state.withLock { $0.outcome } }

  /// Goes on if the count is low enough.
  ///
  /// The count is read before the excused are counted: one that ends in between is then still in the
  /// count and no longer excused, which errs towards waiting, and its end looks again.
  ///
  /// - Parameter count: reads the count.
  /// - Returns: whether it has gone on.
  func tryFulfil(at count: () -> Int) -> Bool {
    let present = count()
    if present > 0 {
      guard let countExcused, present <= limit else { return false }
      let excused = countExcused()
      mostExcused.store(excused, ordering: .relaxed)
      guard present <= excused else { return false }
    }
    resume(true)
    return true
  }

  /// Lets the task go on, if nothing has yet.
  ///
  /// - Parameter isReached: whether what it waits for has come.
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
  /// - Returns: whether what it waited for has come.
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
