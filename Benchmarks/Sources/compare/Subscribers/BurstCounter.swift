import Synchronization

/// Counts what a listener hears and signals at the end of each burst.
///
/// The count is the listener's own and the common signal comes once a burst, so that listeners on two
/// cores don't fight for a cache line and what is measured is the way to them. Atomic, because some
/// contestants deliver to one listener from two threads.
struct BurstCounter: ~Copyable, Sendable {
  private let heard = Atomic<Int>(0)
  private let burst: Int
  private let end: Countdown

  /// Begins to count.
  ///
  /// - Parameters:
  ///   - burst: how many notifications make a burst.
  ///   - end: what is told at the end of each.
  init(burst: Int, end: Countdown) {
    self.burst = burst
    self.end = end
  }

  /// Counts a notification.
  ///
  /// - Parameter request: what it carries.
  func hear(_ request: Request) {
    let count = heard.wrappingAdd(request.units, ordering: .acquiringAndReleasing).newValue
    if count == burst {
      heard.store(0, ordering: .releasing)
      end.arrive()
    }
  }
}
