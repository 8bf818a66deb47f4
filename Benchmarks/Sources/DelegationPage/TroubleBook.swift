import Delegation

/// Finds out what is wrong with hubs, from what they count at the moment and from the incidents that they report.
///
/// Three kinds of trouble, each decided in one place:
/// - *missing*: a protocol that the program needs has no subscriber. It is so as long as nobody is subscribed.
/// - *hanging*: a handler runs and does not return. It is so until the handler returns.
/// - what has been lost: a handler failed, an answer was late, a mailbox dropped. It stays until somebody has looked at
///   it, however long ago it was.
struct TroubleBook {
  typealias Instant = ContinuousClock.Instant
  typealias Subscription = DelegateHub.Subscription

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
    var call, site: String
    var error: String?
    var count = 0
    let first: Instant
    var last: Instant
  }

  /// What a protocol of a hub had counted when somebody looked at it.
  private struct Baseline {
    var dropped = 0, failed = 0, late = 0
  }

  private struct Place: Hashable {
    let hub: ObjectIdentifier
    let `protocol`: String
  }

  /// How many subscribers of a protocol are shown.
  static let rowLimit = 50
  private static let recordLimit = 100
  private static let sightingLimit = 1000
  /// For how long a handler may run before it is said to hang, if the hub has no `slowAfter` of its own.
  private static let patience = Duration.seconds(1)

  private var sightings: [Subscription: Sighting] = [:]
  private var records: [Key: Record] = [:]
  /// The records that nobody has looked at, with the time since when there are any.
  private var unseen: [Key: (since: Instant, count: Int)] = [:]
  private var baselines: [Place: Baseline] = [:]
  /// What the protocols have counted at the last look.
  private var counted: [Place: Baseline] = [:]
  private var lastLook = Instant.now
  /// Since when nobody is subscribed to what is needed.
  private var missing: [String: Instant] = [:]

  // MARK: What is noted

  /// Notes an incident.
  mutating func note(_ incident: DelegateHub.Incident, at now: Instant) {
    if incident.kind == .slow {
      // Its handler runs, or ran a moment ago.
      let row = incident.subscription.statistics
      let since = now - (incident.duration ?? .zero)
      if row.running > 0, !holds(row) {
        if sightings.count >= Self.sightingLimit {
          sightings = sightings.filter { $0.key.statistics.running > 0 }
        }
        if sightings.count < Self.sightingLimit {
          sightings[incident.subscription] = Sighting(
            since: since, running: row.running, ended: Self.ended(row))
        }
      }
    }
    let key = Key(
      kind: "\(incident.kind)", protocol: incident.protocol, subscriber: incident.subscriber)
    if records[key] == nil, records.count >= Self.recordLimit,
      let oldest = records.filter({ unseen[$0.key] == nil }).min(by: {
        $0.value.last < $1.value.last
      })
        ?? records.min(by: { $0.value.last < $1.value.last })
    {
      records[oldest.key] = nil
      // What is lost stays in the counts of its protocol.
      unseen[oldest.key] = nil
    }
    var record = records[key] ?? Record(call: "", site: "", first: now, last: now)
    record.call = "\(incident.call)"
    record.site = incident.site
    record.error = incident.error.map { "\($0)" } ?? record.error
    record.count += 1 + incident.leftOut
    record.last = now
    records[key] = record
    if incident.kind != .slow {
      unseen[key, default: (now, 0)].count += 1 + incident.leftOut
    }
  }

  /// Notes whether anybody is subscribed to a protocol that the program needs.
  mutating func note(need name: String, isMet: Bool, at now: Instant) {
    missing[name] = isMet ? nil : missing[name] ?? now
  }

  /// Notes that somebody has looked at what was lost; not at what has been lost since the last look.
  mutating func acknowledge() {
    unseen = unseen.filter { records[$0.key].map { $0.last > lastLook } ?? false }
    baselines = counted
  }

  // MARK: What is shown

  /// What there is to show.
  ///
  /// - Parameters:
  ///   - samples: the hubs, each with its name and its counts.
  ///   - now: the time.
  /// - Returns: what a page shows.
  mutating func look(
    at samples: [(name: String, hub: DelegateHub)], now: Instant
  ) -> PageState {
    var troubles: [PageState.Trouble] = missing.map { name, since in
      PageState.Trouble(
        kind: "missing", protocol: name, what: "nobody is subscribed",
        whom: "everything that asks it is refused", since: seconds(since, now))
    }.sorted { $0.since > $1.since }
    var present: [Subscription: Sighting] = [:]
    var hanging: [PageState.Trouble] = []
    var losses: [String: Baseline] = [:]
    counted = [:]
    lastLook = now
    let hubs = samples.map { name, hub in
      let patience = hub.configuration.slowAfter ?? Self.patience
      return PageState.Hub(
        name: name,
        protocols: hub.statistics().protocols.map { part in
          let place = Place(hub: ObjectIdentifier(hub), protocol: part.name)
          let sum = Baseline(
            dropped: part.counts.dropped, failed: part.counts.failed + part.questions.failed,
            late: part.questions.late)
          counted[place] = sum
          let former = baselines[place] ?? Baseline()
          losses[part.name, default: Baseline()].dropped += sum.dropped - former.dropped
          losses[part.name, default: Baseline()].failed += sum.failed - former.failed
          losses[part.name, default: Baseline()].late += sum.late - former.late
          let rows = part.subscribers.map { row in
            var age = 0.0
            if row.running > 0 {
              let sighting = sighting(of: row, at: now)
              present[row.subscription] = sighting
              if sighting.since.duration(to: now) >= patience {
                age = seconds(sighting.since, now)
                hanging.append(Self.hanging(row, of: part.name, for: age))
              }
            }
            return PageState.Row(row, hanging: age)
          }
          return PageState.Topic(
            name: part.name, size: part.subscribers.count { $0.subscription.isActive },
            figures: .init(part.counts, part.questions),
            subscribers: Array(rows.sorted { $0.trouble > $1.trouble }.prefix(Self.rowLimit)))
        })
    }
    sightings = present
    let places = Set(counted.keys)
    baselines = baselines.filter { places.contains($0.key) }
    troubles += hanging.sorted { $0.since > $1.since }.prefix(Self.rowLimit)
    troubles += lost(losses, at: now)
    let incidents = records.sorted { $0.value.last > $1.value.last }.map { key, record in
      PageState.Line(
        kind: key.kind, call: record.call, protocol: key.protocol, subscriber: key.subscriber,
        site: record.site, error: record.error, count: record.count,
        first: seconds(record.first, now), last: seconds(record.last, now))
    }
    return PageState(troubles: troubles, hubs: hubs, incidents: incidents)
  }

  /// What was lost since somebody has looked at it, one trouble for each kind and protocol.
  ///
  /// The counts say how much, as long as the hub is there; incidents say when, whose and why.
  private func lost(
    _ losses: [String: Baseline], at now: Instant
  ) -> [PageState.Trouble] {
    let told = Dictionary(grouping: unseen.keys) { [$0.kind, $0.protocol] }
    var kinds = Set(told.keys)
    for (name, loss) in losses {
      kinds.formUnion(
        ["failed", "late", "dropped"].filter { Self.count($0, in: loss) > 0 }.map { [$0, name] })
    }
    return kinds.map { kind in
      let known = (told[kind] ?? []).compactMap { key in records[key].map { (key, $0) } }
      let last = known.max { $0.1.last < $1.1.last }
      let count = Self.count(kind[0], in: losses[kind[1]])
      let times = max(count, known.reduce(0) { $0 + (unseen[$1.0]?.count ?? 0) })
      let others = known.count > 1 ? " and \(known.count - 1) more" : ""
      return PageState.Trouble(
        kind: kind[0], protocol: kind[1],
        subscriber: last.map { "\($0.0.subscriber), \($0.1.site)\(others)" },
        what: Self.what(kind[0], times), whom: Self.whom(kind[0]), why: last?.1.error,
        since: known.compactMap { unseen[$0.0]?.since }.min().map { seconds($0, now) } ?? 0,
        last: last.map { seconds($0.1.last, now) } ?? 0)
    }.sorted { ($0.since, $0.kind, $0.protocol) > ($1.since, $1.kind, $1.protocol) }
  }

  // MARK: Handlers that hang

  /// What is known of a subscriber whose handlers run: what was seen before, if one of those still runs.
  private func sighting(
    of row: DelegateHub.Statistics.SubscriberStatistics, at now: Instant
  ) -> Sighting {
    if holds(row), let former = sightings[row.subscription] { return former }
    return Sighting(since: now, running: row.running, ended: Self.ended(row))
  }

  /// Whether a handler that was running at the last sighting must still run: fewer have ended than ran then.
  private func holds(_ row: DelegateHub.Statistics.SubscriberStatistics) -> Bool {
    guard let former = sightings[row.subscription] else { return false }
    return row.running > 0 && Self.ended(row) - former.ended < former.running
  }

  /// How many handlers have ended.
  private static func ended(_ row: DelegateHub.Statistics.SubscriberStatistics) -> Int {
    let (told, asked) = (row.counts, row.questions)
    return told.handled + told.failed + asked.answered + asked.failed + asked.late + asked.abandoned
  }

  private static func hanging(
    _ row: DelegateHub.Statistics.SubscriberStatistics, of name: String, for age: Double
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

  private static func count(_ kind: String, in loss: Baseline?) -> Int {
    switch kind {
    case "failed": loss?.failed ?? 0
    case "late": loss?.late ?? 0
    case "dropped": loss?.dropped ?? 0
    default: 0
    }
  }

  private static func what(_ kind: String, _ count: Int) -> String {
    let times = count == 1 ? "once" : "\(count) times"
    return switch kind {
    case "failed": "failed \(times)"
    case "late": "had not answered in time, \(times)"
    case "dropped": "had a full mailbox: dropped \(times)"
    case "unheard": "died before it was called"
    default: "\(kind) \(times)"
    }
  }

  private static func whom(_ kind: String) -> String {
    switch kind {
    case "dropped": "the oldest of what was posted is lost to it"
    case "failed": "what it was told or asked has not been done"
    case "late": "who asked has gone on with what counts for an absent one"
    case "tooFew": "who asked has the outcome for too few answers"
    default: "what was posted and asked since has not reached it"
    }
  }
}

private func seconds(_ then: ContinuousClock.Instant, _ now: ContinuousClock.Instant) -> Double {
  max(0, then.duration(to: now) / .seconds(1))
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
