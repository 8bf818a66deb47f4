/// A listener that counts what it hears and signals at the end of each burst.
final class BurstListener: Listener {
  private let counter: BurstCounter

  /// Makes one.
  ///
  /// - Parameters:
  ///   - burst: how many notifications make a burst.
  ///   - end: what is told at the end of each.
  init(burst: Int, end: Countdown) { counter = BurstCounter(burst: burst, end: end) }

  func didPerform(_ request: Request) { counter.hear(request) }
}
