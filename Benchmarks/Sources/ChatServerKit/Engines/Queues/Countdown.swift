import Synchronization

/// Does something at the last of so many counts.
final class Countdown: Sendable {
  private let left: Atomic<Int>
  private let end: @Sendable () -> Void

  init(_ count: Int, _ end: @escaping @Sendable () -> Void) {
    left = Atomic(count)
    self.end = end
    if count == 0 { end() }
  }

  func count() {
    if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { end() }
  }
}
