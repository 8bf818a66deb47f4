import Foundation
import Synchronization

/// Ends a run that stands still: a lost wake-up or receipt would otherwise let it wait for ever, and say nothing.
final class Watchdog: Sendable {
  private static let pause = 0.1

  private let state = Mutex<(isOver: Bool, goesOn: [String])>((false, []))

  /// Starts to watch, on a thread of its own: those of the pool may all be blocked.
  ///
  /// Each event that is taken is progress; once the limits are reached, the end has so many seconds as well.
  init(
    over limits: Limits, patience: Double, onStandstill: @escaping @Sendable ([String]) -> Void
  ) {
    Thread.detachNewThread { [self] in
      var (left, waited) = (limits.left, 0.0)
      while true {
        Thread.sleep(forTimeInterval: Self.pause)
        let (isOver, goesOn) = state.withLock { $0 }
        if isOver { return }
        // Not the clock: a machine that was halted has not waited.
        waited += Self.pause
        if !limits.isReached, limits.left != left { (left, waited) = (limits.left, 0) }
        if waited > patience { return onStandstill(goesOn) }
      }
    }
  }

  /// Says that something goes on, until it has returned.
  nonisolated(nonsending) func during<R>(
    _ name: String, _ body: nonisolated(nonsending) () async -> R
  ) async -> R {
    state.withLock { $0.goesOn.append(name) }
    defer { state.withLock { $0.goesOn.removeAll { $0 == name } } }
    return await body()
  }

  /// Watches no more.
  func end() { state.withLock { $0.isOver = true } }
}
