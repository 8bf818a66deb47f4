import Delegation
import NIOCore

/// Makes a frame of each sample, and remembers which texts viewers have been sent.
///
/// A subscription has a number by which its figures and its texts belong together, for as long as somebody
/// looks. Its texts are made once: they are the `description` of what the user gave.
struct Sampler {
  typealias Statistics = DelegateHub.Statistics

  /// A hub at the time of a sample.
  struct Hub {
    let name: String
    let identity: ObjectIdentifier
    let statistics: Statistics
  }

  private struct Label {
    let number: Int
    /// The number, the subscriber and where it subscribed, as an array.
    let json: JSONText
  }

  /// How many subscribers have figures of their own; of more, those with the most trouble.
  let rowLimit: Int
  private var frames = 0
  /// Of all subscriptions that were shown in the last sample.
  private var labels: [DelegateHub.Subscription: Label] = [:]
  private var nextLabel = 0
  private var hubs: [ObjectIdentifier: Int] = [:]
  private var nextHub = 0
  /// How many incidents there had been at the last frame.
  private(set) var incidents = 0
  /// Of all subscriptions: what had gone wrong at the last sample, and when that last became more.
  private var troubles: [DelegateHub.Subscription: (count: Int, last: ContinuousClock.Instant?)] =
    [:]
  /// How many notifications may wait for a subscriber of a protocol, by its name.
  private let limits: [String: Int]

  init(rowLimit: Int = 2000, limits: [String: Int] = [:]) {
    self.rowLimit = rowLimit
    self.limits = limits
  }

  /// Makes the next frame.
  ///
  /// - Parameters:
  ///   - samples: the hubs.
  ///   - report: what the watch has, with all incidents since ``incidents``, or simply all.
  ///   - now: the time.
  ///   - hasAll: whether the frame has all texts, for those who have none.
  ///   - history: the sums of the last hour, for those who have no texts.
  ///   - troubles: what the program says is wrong.
  /// - Returns: the frame.
  mutating func frame(
    of samples: [Hub], _ report: HubWatch.Report, at now: ContinuousClock.Instant,
    withAll hasAll: Bool, history: [PageHistory.Sums] = [], troubles: [HubPageService.Trouble] = []
  ) -> Frame {
    let (shown, left) = shownSubscriptions(samples, report, at: now)
    var kept: [DelegateHub.Subscription: Label] = [:]
    var keptHubs: [ObjectIdentifier: Int] = [:]
    var (fresh, every) = (JSONText(), JSONText())
    var figures = JSONText()
    figures.object { json in
      json.name("time")
      json.number(Self.time(now))
      json.name("incidents")
      json.number(report.incidentCount)
      json.name("left")
      json.number(left)
      json.name("troubles")
      Self.write(troubles, into: &json, at: now)
      json.name("hubs")
      json.array { json in
        for sample in samples {
          let number = hubs[sample.identity] ?? nextHub
          if number == nextHub { nextHub += 1 }
          keptHubs[sample.identity] = number
          json.object { json in
            json.name("key")
            json.number(number)
            json.name("name")
            json.text(sample.name)
            json.name("protocols")
            json.array { json in
              for part in sample.statistics.protocols {
                json.object { json in
                  json.name("name")
                  json.text(part.name)
                  json.name("size")
                  json.number(part.subscribers.count)
                  if let limit = limits[part.name] {
                    json.name("limit")
                    json.number(limit)
                  }
                  json.name("sums")
                  json.numbers(Self.figures(of: part))
                  // Removed, but a handler of theirs runs on.
                  json.name("ended")
                  json.number(part.subscribers.count { !$0.subscription.isActive })
                  json.name("rows")
                  json.array { json in
                    for row in part.subscribers where shown?.contains(row.subscription) ?? true {
                      let label = labels[row.subscription] ?? makeLabel(for: row, into: &fresh)
                      kept[row.subscription] = label
                      if hasAll { every.append(label.json) }
                      let (timed, age) = Self.times(of: row, in: report, at: now)
                      let most = report.most[row.subscription].map(Self.microseconds) ?? 0
                      let isActive = row.subscription.isActive ? 1 : 0
                      json.numbers(
                        [label.number, isActive, row.running, timed, age, most]
                          + Self.figures(of: row))
                    }
                  }
                }
              }
            }
          }
        }
      }
      json.name("times")
      json.array { json in
        for (name, times) in report.histograms.sorted(by: { $0.key < $1.key }) {
          json.object { json in
            json.name("name")
            json.text(name)
            json.name("durations")
            json.numbers(times.durations.counts)
            json.name("waits")
            json.numbers(times.waits.counts)
          }
        }
      }
    }
    (labels, hubs) = (kept, keptHubs)
    frames += 1
    let news = report.incidents.filter { $0.version > incidents }
    incidents = max(incidents, report.incidents.last?.version ?? 0)
    return Frame(
      number: frames,
      news: Self.texts(isAll: false, fresh, news, [], at: now),
      all: hasAll ? Self.texts(isAll: true, every, report.incidents, history, at: now) : nil,
      figures: Frame.event("figures", figures))
  }

  private mutating func makeLabel(
    for row: Statistics.SubscriberStatistics, into fresh: inout JSONText
  ) -> Label {
    var json = JSONText()
    json.array { json in
      json.number(nextLabel)
      json.text(row.subscriber)
      json.text(row.site)
    }
    fresh.append(json)
    defer { nextLabel += 1 }
    return Label(number: nextLabel, json: json)
  }

  /// Those whose figures are in the frame, `nil` for all, and how many are not.
  private mutating func shownSubscriptions(
    _ samples: [Hub], _ report: HubWatch.Report, at now: ContinuousClock.Instant
  ) -> (shown: Set<DelegateHub.Subscription>?, left: Int) {
    let rows = samples.flatMap { $0.statistics.protocols.flatMap(\.subscribers) }
    guard rows.count > rowLimit else {
      troubles = [:]
      return (nil, 0)
    }
    // By what there is now: what went wrong long ago hides nobody.
    var present = troubles
    present.removeAll(keepingCapacity: true)
    func trouble(_ row: Statistics.SubscriberStatistics) -> Int {
      let count =
        row.counts.lost + row.counts.failed + row.questions.failed + row.questions.late
      let former = troubles[row.subscription]
      let last = count > former?.count ?? count ? now : former?.last
      present[row.subscription] = (count, last)
      let isRecent = last.map { $0.duration(to: now) < .seconds(10) } ?? false
      return Self.times(of: row, in: report, at: now).age * 10 + row.counts.waiting
        + (isRecent ? 1_000_000 : min(count, 1))
    }
    let sorted = rows.map { ($0.subscription, trouble($0)) }.sorted { $0.1 > $1.1 }
    troubles = present
    return (Set(sorted.prefix(rowLimit).map(\.0)), rows.count - rowLimit)
  }
}

extension Sampler {
  /// What times of frames count from.
  private static let origin = ContinuousClock.now

  /// What 99 of 100 handlers took at most; below zero if that one still runs.
  private static func microseconds(_ most: HandlerTimes.Most) -> Int {
    let value = max(1, Int(most.duration / .microseconds(1)))
    return most.isAtLeast ? -value : value
  }

  /// The time as frames have it.
  static func time(_ now: ContinuousClock.Instant) -> Int {
    milliseconds(origin.duration(to: now))
  }

  static func milliseconds(_ duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
  }

  /// How many of a subscriber's handlers have been timed, and for how long the first of them has run.
  static func times(
    of row: Statistics.SubscriberStatistics, in report: HubWatch.Report,
    at now: ContinuousClock.Instant
  ) -> (count: Int, age: Int) {
    guard let running = report.running[row.subscription] else { return (0, 0) }
    return (running.count, milliseconds(running.start.duration(to: now)))
  }

  /// A protocol's figures; the page knows them by their places.
  private static func figures(of part: Statistics.ProtocolStatistics) -> [Int] {
    figures(part.counts, part.questions)
  }

  /// A subscriber's figures, in the same places.
  private static func figures(of row: Statistics.SubscriberStatistics) -> [Int] {
    figures(row.counts, row.questions)
  }

  private static func figures(
    _ counts: Statistics.Counts, _ questions: Statistics.Questions
  ) -> [Int] {
    [
      counts.handled, counts.failed, counts.lost, counts.waiting,
      questions.asked, questions.answered, questions.failed, questions.late, questions.abandoned,
      questions.answering,
    ]
  }

  /// The event with texts; empty if it would say nothing.
  private static func texts(
    isAll: Bool, _ labels: JSONText, _ incidents: [IncidentBook.Line],
    _ history: [PageHistory.Sums], at now: ContinuousClock.Instant
  ) -> ByteBuffer {
    if !isAll, labels.bytes.isEmpty, incidents.isEmpty { return ByteBuffer() }
    var json = JSONText()
    json.object { json in
      json.name("all")
      json.number(isAll ? 1 : 0)
      json.name("subscribers")
      json.array { $0.append(labels) }
      json.name("history")
      json.array { json in
        for sums in history { json.numbers([sums.time] + sums.values) }
      }
      json.name("incidents")
      write(incidents, into: &json, at: now)
    }
    return Frame.event("texts", json)
  }

  static func write(
    _ troubles: [HubPageService.Trouble], into json: inout JSONText,
    at now: ContinuousClock.Instant
  ) {
    json.array { json in
      for trouble in troubles {
        json.object { json in
          json.name("who")
          json.text(trouble.who)
          json.name("what")
          json.text(trouble.what)
          json.name("age")
          json.number(milliseconds(trouble.since.duration(to: now)))
        }
      }
    }
  }

  static func write(
    _ incidents: [IncidentBook.Line], into json: inout JSONText, at now: ContinuousClock.Instant
  ) {
    json.array { json in
      for line in incidents {
        let incident = line.incident
        json.object { json in
          json.name("number")
          json.number(line.number)
          json.name("count")
          json.number(line.count)
          json.name("several")
          json.number(line.isOfSeveral ? 1 : 0)
          json.name("age")
          json.number(milliseconds(line.last.duration(to: now)))
          json.name("since")
          json.number(milliseconds(line.first.duration(to: now)))
          json.name("kind")
          json.text("\(incident.kind)")
          json.name("call")
          json.text("\(incident.call)")
          json.name("protocol")
          json.text(incident.protocol)
          json.name("subscriber")
          json.text(incident.subscriber)
          json.name("site")
          json.text(incident.site)
          json.name("error")
          json.text(incident.error.map { "\($0)" } ?? "")
          json.name("duration")
          json.number(incident.duration.map(milliseconds) ?? -1)
          json.name("dropped")
          json.number(line.dropped)
        }
      }
    }
  }
}
