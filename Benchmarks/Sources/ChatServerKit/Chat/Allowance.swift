/// So many things a second, and at most twice as many at once.
struct Allowance {
  private let perSecond: Double
  private var left: Double
  private var filled: ContinuousClock.Instant

  init(perSecond: Int, at time: ContinuousClock.Instant) {
    self.perSecond = Double(perSecond)
    left = 2 * self.perSecond
    filled = time
  }

  /// How long it takes at most until it is full again.
  static var timeToFill: Duration { .seconds(2) }

  /// Takes one.
  ///
  /// - Returns: `nil` if there was one; otherwise how long it takes until there is.
  mutating func take(at time: ContinuousClock.Instant) -> Duration? {
    // Two that come at once may have read the time in the other order.
    let elapsed = max(0, filled.duration(to: time) / .seconds(1))
    left = min(2 * perSecond, left + elapsed * perSecond)
    filled = max(filled, time)
    guard left >= 1 else { return .seconds((1 - left) / perSecond) }
    left -= 1
    return nil
  }
}
