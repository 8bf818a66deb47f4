import Synchronization

/// Tells one waiting task when the last of many handlers is done.
///
/// The waiting task itself is one of those waited for: the one who arrives last, a handler or the task with its
/// continuation, resumes it. So no contestant polls and all pay the same for the end.
final class Countdown: Sendable {
  private let missing = Atomic<Int>(0)
  private let waiting = Mutex<UnsafeContinuation<Void, Never>?>(nil)

  /// Starts anew; nobody may be on the way from before.
  func start(_ handlers: Int) {
    precondition(missing.load(ordering: .acquiring) == 0, "the last burst has not ended")
    missing.store(handlers + 1, ordering: .releasing)
  }

  /// Says that one handler is done.
  func arrive() {
    let left = missing.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue
    precondition(left >= 0, "somebody was told more often than was posted")
    if left == 0 {
      waiting.withLock { $0.take() }?.resume()
    }
  }

  /// Returns when all have arrived.
  nonisolated(nonsending) func wait() async {
    await withUnsafeContinuation { continuation in
      waiting.withLock { $0 = continuation }
      arrive()
    }
  }
}
