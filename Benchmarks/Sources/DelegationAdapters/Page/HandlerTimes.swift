import Delegation

/// Which handlers run since when, and how long those took that have ended.
struct HandlerTimes {
  typealias Instant = ContinuousClock.Instant
  typealias Subscription = DelegateHub.Subscription

  /// How long the handlers of one protocol took, and how long notifications had waited for them.
  struct Histograms: Equatable {
    var durations = DurationHistogram()
    var waits = DurationHistogram()

    static func += (sum: inout Self, other: Self) {
      sum.durations += other.durations
      sum.waits += other.waits
    }
  }

  /// The handlers of one subscription that run.
  struct Running: Equatable {
    var count = 0
    /// When the one began that has run for longest.
    var start: Instant
  }

  /// What of a subscription's handlers 99 of 100 took at most.
  struct Most: Equatable {
    let duration: Duration
    /// Whether that is of one that still runs.
    let isAtLeast: Bool
  }

  private struct Run {
    let subscription: Subscription
    let start: Instant
  }

  private var protocols: [(name: String, histograms: Histograms)] = []
  /// The places in `protocols`, so that a protocol's name is not made for each handler.
  private var places: [Subscription: Int] = [:]
  private var recent = RecentTimes()
  private var runs: [Run?] = []
  /// The places of `runs` that are `nil`.
  private var free: [Int] = []

  /// Notes that a handler begins.
  ///
  /// - Returns: its place, for the end.
  mutating func begin(_ subscription: Subscription, at start: Instant) -> Int {
    let run = Run(subscription: subscription, start: start)
    guard let place = free.popLast() else {
      runs.append(run)
      return runs.count - 1
    }
    runs[place] = run
    return place
  }

  /// Notes that a handler has ended, and how long it took.
  ///
  /// The caller still has the subscription: what it keeps is not released here.
  ///
  /// - Parameters:
  ///   - place: what ``begin(_:at:)`` has returned.
  ///   - name: the protocol's name, which is not always wanted.
  ///   - waited: how long the notification had waited, if it was one.
  ///   - end: the time.
  mutating func end(
    _ place: Int, of name: @autoclosure () -> String, waited: Duration?, at end: Instant
  ) {
    guard let run = runs[place] else { return }
    runs[place] = nil
    free.append(place)
    let index = places[run.subscription] ?? add(name(), for: run.subscription)
    protocols[index].histograms.durations.add(run.start.duration(to: end))
    recent.add(run.start.duration(to: end), of: run.subscription)
    if let waited { protocols[index].histograms.waits.add(waited) }
  }

  private mutating func add(_ name: String, for subscription: Subscription) -> Int {
    let index = protocols.firstIndex { $0.name == name } ?? protocols.count
    if index == protocols.count { protocols.append((name, Histograms())) }
    places[subscription] = index
    return index
  }

  /// Adds what there is to a report.
  ///
  /// - Returns: the subscriptions that it knew, to be released by the caller: they may have ended since.
  mutating func report(
    into running: inout [Subscription: Running], _ histograms: inout [String: Histograms],
    _ most: inout [Subscription: Most], at now: Instant
  ) -> [any Sendable] {
    let released = recent.rotate(at: now)
    var ages: [Subscription: [Duration]] = [:]
    for case let run? in runs {
      var sum = running[run.subscription] ?? Running(start: run.start)
      sum.count += 1
      sum.start = min(sum.start, run.start)
      running[run.subscription] = sum
      ages[run.subscription, default: []].append(run.start.duration(to: now))
    }
    // A subscription's handlers are all in one of the watch's parts.
    for subscription in recent.subscriptions.union(ages.keys) {
      most[subscription] = Self.most(
        of: recent.histogram(of: subscription), running: ages[subscription] ?? [])
    }
    for (name, times) in protocols { histograms[name, default: Histograms()] += times }
    defer { places = [:] }
    return [places, released]
  }

  /// By the ends of buckets; a handler that runs is among them with its age.
  private static func most(of ended: DurationHistogram, running: [Duration]) -> Most? {
    var all = ended
    for age in running { all.add(age) }
    // How many may take longer.
    var beyond = all.counts.reduce(0, +) / 100
    for bucket in all.counts.indices.reversed() where all.counts[bucket] > 0 {
      guard all.counts[bucket] <= beyond else {
        // One that runs there may yet take longer, and is known to the moment.
        let age = running.filter { DurationHistogram.bucket(of: $0) >= bucket }.min()
        return Most(duration: age ?? .microseconds(1 << bucket), isAtLeast: age != nil)
      }
      beyond -= all.counts[bucket]
    }
    return nil
  }
}
