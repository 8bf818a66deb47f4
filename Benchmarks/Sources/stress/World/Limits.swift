import Delegation
import Synchronization

/// When producers end, and when they hold back.
final class Limits: Sendable {
  private let end: ContinuousClock.Instant?
  private let left: Atomic<Int>
  private let window: Int

  /// Sets the limits.
  ///
  /// - Parameters:
  ///   - duration: how long producers go on; `nil` for no such limit.
  ///   - events: how many they post together; `nil` for no such limit.
  ///   - window: how many notifications the slowest resident that handles all may be behind.
  init(duration: Duration?, events: Int?, window: Int) {
    end = duration.map { .now + $0 }
    left = Atomic(events ?? .max)
    self.window = window
  }

  /// Whether producers shall end.
  var isReached: Bool {
    left.load(ordering: .relaxed) <= 0 || end.map { .now >= $0 } ?? false
  }

  /// Waits until one more may be posted.
  ///
  /// - Parameters:
  ///   - world: where.
  ///   - residents: who is always there.
  /// - Returns: whether it still may.
  func admit(_ world: World, _ residents: [Resident]) async -> Bool {
    let complete = residents.lazy.filter(\.isComplete)
    func isAhead() -> Bool {
      let slowest = complete.map(\.subscriber.conduct.watch.handled).min() ?? 0
      return world.tally.posted - slowest > window
    }
    while isAhead() {
      if isReached { return false }
      try? await Task.sleep(for: .microseconds(100))
    }
    return left.wrappingSubtract(1, ordering: .relaxed).oldValue > 0
  }
}
