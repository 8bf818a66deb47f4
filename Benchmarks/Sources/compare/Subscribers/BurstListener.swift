import Synchronization

/// A listener that counts what it hears and signals at the end of each burst.
///
/// The count is its own and the common signal comes once a burst, so that listeners on two cores
/// don't fight for a cache line and what is measured is the way to them. Atomic, because some
/// contestants deliver to one listener from two threads.
final class BurstListener: Listener {
  private let heard = Atomic<Int>(0)
  private let burst: Int
  private let end: Countdown

  /// Makes one.
  ///
  /// - Parameters:
  ///   - burst: how many notifications make a burst.
  ///   - end: what is told at the end of each.
  init(burst: Int, end: Countdown) {
    self.burst = burst
    self.end = end
  }

  func didPerform(_ request: Request) {
    let count = heard.wrappingAdd(request.units, ordering: .acquiringAndReleasing).newValue
    if count == burst {
      heard.store(0, ordering: .releasing)
      end.arrive()
    }
  }
}

/// Listeners that are told in bursts, and the signal at the end of each burst.
struct Crowd: Sendable {
  /// Who is told.
  let listeners: [BurstListener]
  /// How many notifications make a burst.
  let burst: Int
  private let end: Countdown

  /// Makes the listeners.
  ///
  /// - Parameters:
  ///   - count: how many.
  ///   - burst: how many notifications make a burst.
  init(_ count: Int, burst: Int) {
    let end = Countdown()
    self.end = end
    self.burst = burst
    listeners = (0..<count).map { _ in BurstListener(burst: burst, end: end) }
  }

  /// Makes ready for a burst.
  func start() { end.start(listeners.count) }

  /// Returns when every listener has heard all of the burst.
  func wait() async { await end.wait() }
}
