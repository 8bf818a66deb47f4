/// Listeners that are told in bursts, and the signal at the end of each burst.
struct Crowd<Member: Sendable>: Sendable {
  /// Who is told.
  let listeners: [Member]
  /// How many notifications make a burst.
  let burst: Int
  private let end: Countdown

  /// Makes the listeners.
  ///
  /// - Parameters:
  ///   - count: how many.
  ///   - burst: how many notifications make a burst.
  ///   - make: makes one of them, which is to tell the signal of each burst's end.
  init(
    _ count: Int, burst: Int, _ make: (_ burst: Int, _ end: Countdown) -> Member
  ) {
    let end = Countdown()
    self.end = end
    self.burst = burst
    listeners = (0..<count).map { _ in make(burst, end) }
  }

  /// How many deliveries a burst is.
  var deliveries: Int { listeners.count * burst }

  /// Makes ready for a burst.
  func start() { end.start(listeners.count) }

  /// Returns when every listener has heard all of the burst.
  func wait() async { await end.wait() }
}

extension Crowd<BurstListener> {
  /// Makes listeners of the cheapest kind.
  ///
  /// - Parameters:
  ///   - count: how many.
  ///   - burst: how many notifications make a burst.
  init(_ count: Int, burst: Int) {
    self.init(count, burst: burst) { BurstListener(burst: $0, end: $1) }
  }
}
