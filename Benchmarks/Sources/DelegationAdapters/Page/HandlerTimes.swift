import Delegation

/// Which handlers run since when, and how long those took that have ended.
struct HandlerTimes {
  typealias Instant = ContinuousClock.Instant

  /// How long the handlers of one protocol took, and how long notifications had waited for them.
  struct Histograms: Equatable {
    var durations = DurationHistogram()
    var waits = DurationHistogram()
  }

  private struct Run {
    let subscription: DelegateHub.Subscription
    let start: Instant
  }

  private(set) var histograms: [String: Histograms] = [:]
  private var runs: [Run?] = []
  /// The places of `runs` that are `nil`.
  private var free: [Int] = []

  /// Notes that a handler begins.
  ///
  /// - Returns: its place, for ``end(_:of:waited:at:)``.
  mutating func begin(_ subscription: DelegateHub.Subscription, at start: Instant) -> Int {
    let run = Run(subscription: subscription, start: start)
    guard let place = free.popLast() else {
      runs.append(run)
      return runs.count - 1
    }
    runs[place] = run
    return place
  }

  /// Notes that a handler has ended.
  ///
  /// The caller still has the subscription: what it keeps is not released here.
  mutating func end(_ place: Int, of name: String, waited: Duration?, at end: Instant) {
    guard let run = runs[place] else { return }
    runs[place] = nil
    free.append(place)
    histograms[name, default: Histograms()].durations.add(run.start.duration(to: end))
    if let waited { histograms[name, default: Histograms()].waits.add(waited) }
  }

  /// When the longest of each subscription's running handlers began.
  func oldest(into oldest: inout [DelegateHub.Subscription: Instant]) {
    for case let run? in runs {
      oldest[run.subscription] = min(oldest[run.subscription] ?? run.start, run.start)
    }
  }
}
