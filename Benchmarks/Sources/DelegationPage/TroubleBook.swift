import Delegation

/// Finds out what is wrong with hubs, from what they count at the moment and from the incidents that they report.
///
/// Three kinds of trouble, each decided in one place:
/// - *missing*: a protocol that the program needs has no subscriber. It is so as long as nobody is subscribed.
/// - *hanging*: a handler runs and does not return. It is so until the handler returns.
/// - what has been lost: a handler failed, an answer was late, a mailbox dropped. It stays until somebody has looked at
///   it, however long ago it was, and whether or not there still is a hub.
///
/// It is changed under a lock, so what changes it runs no code of the program's: statistics are taken and texts made
/// outside.
struct TroubleBook {
  typealias Instant = ContinuousClock.Instant
  typealias Subscription = DelegateHub.Subscription
  typealias Row = DelegateHub.Statistics.SubscriberStatistics

  /// A hub at a moment.
  struct Sample {
    let name: String
    let slowAfter: Duration?
    let statistics: DelegateHub.Statistics
  }

  /// What was seen of a subscriber at a moment when handlers of its were running.
  private struct Sighting {
    let since: Instant
    let running: Int
    let ended: Int
  }

  private struct Key: Hashable {
    let kind, `protocol`, subscriber: String
  }

  private struct Record {
    var call = "", site = ""
    var error: String?
    var count = 0
    let first: Instant
    var last: Instant
  }

  /// How many subscribers of a protocol are shown.
  static let rowLimit = 50
  private static let recordLimit = 100
  private static let sightingLimit = 1000
  /// For how long a handler may run before it is said to hang, if the hub has no `slowAfter` of its own.
  private static let patience = Duration.seconds(1)

  private var sightings: [Subscription: Sighting] = [:]
  private var records: [Key: Record] = [:]
  /// What has been lost, by kind and protocol.
  private var losses: [[String]: Loss] = [:]
  /// Since when nobody is subscribed to what is needed.
  private var missing: [String: Instant] = [:]

  // MARK: What is noted

  /// Notes that something has gone wrong.
  mutating func note(_ report: Report, at now: Instant) {
    if report.kind == "slow", let row = report.row, row.running > 0, !holds(row),
      sightings.count < Self.sightingLimit
    {
      // Its handler runs, or ran a moment ago.
      sightings[report.subscription] = Sighting(
        since: now - report.duration, running: row.running, ended: Self.ended(row))
    }
    let key = Key(
      kind: report.kind, protocol: report.protocol, subscriber: report.subscriber)
    if records[key] == nil, records.count >= Self.recordLimit,
      let oldest = records.min(by: { $0.value.last < $1.value.last })
    {
      records[oldest.key] = nil
    }
    var record = records[key] ?? Record(first: now, last: now)
    record.call = report.call
    record.site = report.site
    record.error = report.error ?? record.error
    record.count += report.count
    record.last = now
    records[key] = record
    if report.kind != "slow" {
      losses[[report.kind, report.protocol], default: Loss(since: now)].note(report, at: now)
    }
  }

  /// Notes whether anybody is subscribed to a protocol that the program needs.
  mutating func note(need name: String, isMet: Bool, at now: Instant) {
    missing[name] = isMet ? nil : missing[name] ?? now
  }

  /// Notes that somebody has looked at what was lost; not at what has been lost since the last look.
  mutating func acknowledge() {
    for key in losses.keys { losses[key]?.acknowledge() }
    losses = losses.filter { !$0.value.isOver }
  }

  /// The subscriptions whose mailboxes drop.
  var droppers: [Subscription] { losses.values.flatMap(\.droppers.keys) }

  /// Notes how things are.
  ///
  /// - Parameters:
  ///   - samples: the hubs.
  ///   - dropped: how many the mailboxes of the ``droppers`` have dropped, and whether that may grow.
  ///   - now: the time.
  mutating func look(
    at samples: [Sample], dropped: [Subscription: (isActive: Bool, number: Int)], now: Instant
  ) {
    var present: [Subscription: Sighting] = [:]
    for row in samples.flatMap(\.statistics.protocols).flatMap(\.subscribers) where row.running > 0
    {
      // What was seen before, if one of those handlers still runs.
      let former = holds(row) ? sightings[row.subscription] : nil
      present[row.subscription] =
        former ?? Sighting(since: now, running: row.running, ended: Self.ended(row))
    }
    sightings = present
    for key in losses.keys { losses[key]?.look(dropped, at: now) }
  }

  /// Whether a handler that was running at the last sighting must still run: fewer have ended than ran then.
  private func holds(_ row: Row) -> Bool {
    guard let former = sightings[row.subscription] else { return false }
    return row.running > 0 && Self.ended(row) - former.ended < former.running
  }

  /// How many handlers have ended.
  private static func ended(_ row: Row) -> Int {
    let (told, asked) = (row.counts, row.questions)
    return told.handled + told.failed + asked.answered + asked.failed + asked.late + asked.abandoned
  }

  // MARK: What is shown

  /// What there is to show, once it has looked.
  func state(of samples: [Sample], now: Instant) -> PageState {
    var hanging: [PageState.Trouble] = []
    let hubs = samples.map { sample in
      let patience = sample.slowAfter ?? Self.patience
      return PageState.Hub(
        name: sample.name,
        protocols: sample.statistics.protocols.map { part in
          let rows = part.subscribers.map { row in
            var age = 0.0
            if let since = sightings[row.subscription]?.since, since.duration(to: now) >= patience {
              age = seconds(since, now)
              hanging.append(Self.hanging(row, of: part.name, for: age))
            }
            return PageState.Row(row, hanging: age)
          }
          return PageState.Topic(
            name: part.name, size: part.subscribers.count { $0.subscription.isActive },
            figures: .init(part.counts, part.questions),
            subscribers: Array(rows.sorted { $0.trouble > $1.trouble }.prefix(Self.rowLimit)))
        })
    }
    let absent = missing.map { name, since in
      PageState.Trouble(
        kind: "missing", protocol: name, what: "nobody is subscribed",
        whom: "everything that asks it is refused", since: seconds(since, now))
    }
    let lost = losses.filter { $0.value.count > 0 }.map { key, loss in
      loss.trouble(kind: key[0], protocol: key[1], now: now)
    }
    let incidents = records.sorted { $0.value.last > $1.value.last }.map { key, record in
      PageState.Line(
        kind: key.kind, call: record.call, protocol: key.protocol, subscriber: key.subscriber,
        site: record.site, error: record.error, count: record.count,
        first: seconds(record.first, now), last: seconds(record.last, now))
    }
    return PageState(
      troubles: absent.sorted { $0.since > $1.since }
        + hanging.sorted { $0.since > $1.since }.prefix(Self.rowLimit)
        + lost.sorted { ($0.since, $0.kind, $0.protocol) > ($1.since, $1.kind, $1.protocol) },
      hubs: hubs, incidents: incidents)
  }

  private static func hanging(
    _ row: Row, of name: String, for age: Double
  ) -> PageState.Trouble {
    let handlers = row.running == 1 ? "its handler runs" : "\(row.running) of its handlers run"
    let waiting = row.counts.waiting
    var whom: [String] = []
    if waiting > 0 {
      whom.append(
        waiting == 1 ? "a notification waits for it" : "\(waiting) notifications wait for it")
    }
    if row.questions.answering > 0 { whom.append("those who ask it wait until their deadline") }
    return PageState.Trouble(
      kind: "hanging", protocol: name, subscriber: "\(row.subscriber), \(row.site)",
      what: row.subscription.isActive ? handlers : "was removed, but \(handlers)",
      whom: whom.isEmpty ? "nobody waits for it" : whom.joined(separator: ", "), since: age)
  }
}

extension PageState.Figures {
  init(_ told: DelegateHub.Statistics.Counts, _ asked: DelegateHub.Statistics.Questions) {
    self.init(
      handled: told.handled, failed: told.failed, dropped: told.dropped, expired: told.expired,
      cancelled: told.cancelled, passedOver: told.passedOver, waiting: told.waiting,
      asked: asked.asked, answered: asked.answered, failedToAnswer: asked.failed, late: asked.late,
      abandoned: asked.abandoned)
  }
}

extension PageState.Row {
  init(_ row: DelegateHub.Statistics.SubscriberStatistics, hanging age: Double) {
    self.init(
      subscriber: row.subscriber, site: row.site, hasEnded: !row.subscription.isActive,
      running: row.running, hanging: age, figures: .init(row.counts, row.questions))
  }

  /// How far up it stands: who hangs first, then who has lost most, then who has most to do.
  fileprivate var trouble: (Double, Int, Int) {
    let lost = figures.dropped + figures.failed + figures.failedToAnswer + figures.late
    return (hanging, lost, figures.waiting + running)
  }
}
