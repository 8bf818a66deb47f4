import Delegation

/// How long each subscription's handlers took in the last half minute to minute.
struct RecentTimes {
  typealias Instant = ContinuousClock.Instant
  typealias Subscription = DelegateHub.Subscription

  private static let span = Duration.seconds(30)
  private var younger: [Subscription: DurationHistogram] = [:]
  private var older: [Subscription: DurationHistogram] = [:]
  private var begun: Instant?

  mutating func add(_ duration: Duration, of subscription: Subscription) {
    younger[subscription, default: DurationHistogram()].add(duration)
  }

  /// Forgets what is too old.
  ///
  /// - Returns: what it knew subscriptions by, to be released by the caller.
  mutating func rotate(at now: Instant) -> [Subscription: DurationHistogram] {
    let age = begun.map { $0.duration(to: now) } ?? Self.span
    guard age >= Self.span else { return [:] }
    defer {
      older = age >= Self.span * 2 ? [:] : younger
      younger = [:]
      begun = now
    }
    return older.merging(age >= Self.span * 2 ? younger : [:]) { one, _ in one }
  }

  func histogram(of subscription: Subscription) -> DurationHistogram {
    var sum = younger[subscription] ?? DurationHistogram()
    if let older = older[subscription] { sum += older }
    return sum
  }

  var subscriptions: Set<Subscription> { Set(younger.keys).union(older.keys) }
}
