import Delegation

/// Something that has gone wrong, with the texts made.
struct Report {
  let kind, call, `protocol`, subscriber, site: String
  var error: String?
  /// How often.
  var count = 1
  /// How many were dropped.
  var dropped = 0
  /// For how long the handler has been running.
  var duration = Duration.zero
  let subscription: DelegateHub.Subscription
  /// The subscriber's counts, for a handler that is slow.
  var row: DelegateHub.Statistics.SubscriberStatistics?

  /// An incident.
  init(_ incident: DelegateHub.Incident) {
    (kind, call) = ("\(incident.kind)", "\(incident.call)")
    (`protocol`, subscriber) = (incident.protocol, incident.subscriber)
    (site, subscription) = (incident.site, incident.subscription)
    error = incident.error.map { "\($0)" }
    count += incident.leftOut
    dropped = incident.dropped
    duration = incident.duration ?? .zero
    if incident.kind == .slow { row = subscription.statistics }
  }

  /// A subscription that was ended, because its handler hangs.
  init(givenUp handler: DelegateHub.HandlerCall) {
    (kind, call) = ("givenUp", "\(handler.call)")
    (`protocol`, subscriber) = (handler.protocol, handler.subscriber)
    subscription = handler.subscription
    site = subscription.statistics.site
  }
}

/// What has gone wrong in one way, with one protocol, since somebody has looked at it.
struct Loss {
  typealias Instant = ContinuousClock.Instant

  /// How many subscriptions, and how many names of subscribers, are kept.
  private static let limit = 1000

  /// How often it was.
  private(set) var count = 0
  /// Whose mailboxes drop, with how many of those are counted.
  ///
  /// An incident tells of the first one only; the subscriptions outlive the hub.
  private(set) var droppers: [DelegateHub.Subscription: Int] = [:]
  private var shown = 0
  private var subscribers: Set<String> = []
  private var subscriber, error: String?
  private var since, last: Instant

  init(since: Instant) { (self.since, last) = (since, since) }

  /// Whether it may be forgotten.
  var isOver: Bool { count == 0 && droppers.isEmpty }

  mutating func note(_ report: Report, at now: Instant) {
    // Those left out have dropped one at least.
    count += report.dropped == 0 ? report.count : report.count - 1
    if droppers[report.subscription] == nil, droppers.count >= Self.limit {
      count += report.dropped
    } else if report.dropped > 0 {
      droppers[report.subscription, default: 0] += 0
    }
    if subscribers.count < Self.limit { subscribers.insert(report.subscriber) }
    (subscriber, error, last) = ("\(report.subscriber), \(report.site)", report.error ?? error, now)
  }

  /// Counts what has been dropped since the last look.
  mutating func look(
    _ dropped: [DelegateHub.Subscription: (isActive: Bool, number: Int)], at now: Instant
  ) {
    for (subscription, former) in droppers {
      guard let (isActive, number) = dropped[subscription] else { continue }
      // It went on after somebody has looked at it.
      if count == 0, number > former, former > 0 { since = now }
      if number > former { last = now }
      count += number - former
      droppers[subscription] = isActive ? number : nil
    }
    shown = count
  }

  /// Forgets what was shown at the last look.
  mutating func acknowledge() {
    count -= shown
    shown = 0
    subscribers = []
    since = last
  }

  func trouble(kind: String, protocol name: String, now: Instant) -> PageState.Trouble {
    let times = count == 1 ? "once" : "\(count) times"
    let least = subscribers.count == Self.limit ? "at least " : ""
    let others = subscribers.count > 1 ? " and \(least)\(subscribers.count - 1) more" : ""
    let (what, whom) =
      switch kind {
      case "dropped":
        ("had a full mailbox: dropped \(times)", "the oldest of what was posted is lost to it")
      case "failed": ("failed \(times)", "what it was told or asked has not been done")
      case "givenUp":
        ("hung and was given up, \(times)", "what waited for it, and what comes, is lost to it")
      case "late":
        (
          "had not answered in time, \(times)",
          "who asked has gone on with what counts for an absent one"
        )
      case "tooFew": ("tooFew \(times)", "who asked has the outcome for too few answers")
      case "unheard":
        ("died before it was called", "what was posted and asked since has not reached it")
      default: ("\(kind) \(times)", "what was posted and asked since has not reached it")
      }
    return PageState.Trouble(
      kind: kind, protocol: name, subscriber: subscriber.map { $0 + others }, what: what,
      whom: whom, why: error, since: seconds(since, now), last: seconds(last, now))
  }
}

func seconds(_ then: ContinuousClock.Instant, _ now: ContinuousClock.Instant) -> Double {
  max(0, then.duration(to: now) / .seconds(1))
}
