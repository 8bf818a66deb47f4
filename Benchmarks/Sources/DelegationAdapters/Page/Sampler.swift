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
  /// The number of the first incident that the last frame did not have.
  private(set) var nextIncident = 0

  init(rowLimit: Int = 2000) {
    self.rowLimit = rowLimit
  }

  /// Makes the next frame.
  ///
  /// - Parameters:
  ///   - samples: the hubs.
  ///   - report: what the watch has, with all incidents from ``nextIncident`` on, or simply all.
  ///   - now: the time.
  ///   - hasAll: whether the frame has all texts, for those who have none.
  /// - Returns: the frame.
  mutating func frame(
    of samples: [Hub], _ report: HubWatch.Report, at now: ContinuousClock.Instant,
    withAll hasAll: Bool
  ) -> Frame {
    let (shown, left) = shownSubscriptions(samples, report, at: now)
    var kept: [DelegateHub.Subscription: Label] = [:]
    var keptHubs: [ObjectIdentifier: Int] = [:]
    var (fresh, every) = (JSONText(), JSONText())
    var figures = JSONText()
    figures.object { json in
      json.name("time")
      json.number(Self.milliseconds(Self.origin.duration(to: now)))
      json.name("incidents")
      json.number(report.incidentCount)
      json.name("left")
      json.number(left)
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
                  json.name("sums")
                  json.numbers(Self.figures(of: part))
                  json.name("rows")
                  json.array { json in
                    for row in part.subscribers where shown?.contains(row.subscription) ?? true {
                      let label = labels[row.subscription] ?? makeLabel(for: row, into: &fresh)
                      kept[row.subscription] = label
                      if hasAll { every.append(label.json) }
                      let (timed, age) = Self.times(of: row, in: report, at: now)
                      json.numbers([label.number, row.running, timed, age] + Self.figures(of: row))
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
    let incidents = report.incidents.filter { $0.number >= nextIncident }
    nextIncident = (report.incidents.last?.number ?? nextIncident - 1) + 1
    return Frame(
      number: frames,
      news: Self.texts(isAll: false, fresh, incidents, at: now),
      all: hasAll ? Self.texts(isAll: true, every, report.incidents, at: now) : nil,
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
  private func shownSubscriptions(
    _ samples: [Hub], _ report: HubWatch.Report, at now: ContinuousClock.Instant
  ) -> (shown: Set<DelegateHub.Subscription>?, left: Int) {
    let rows = samples.flatMap { $0.statistics.protocols.flatMap(\.subscribers) }
    guard rows.count > rowLimit else { return (nil, 0) }
    func trouble(_ row: Statistics.SubscriberStatistics) -> Int {
      Self.times(of: row, in: report, at: now).age * 10 + row.counts.waiting + row.counts.dropped
        + row.counts.failed + row.questions.failed + row.questions.late
    }
    let sorted = rows.map { ($0.subscription, trouble($0)) }.sorted { $0.1 > $1.1 }
    return (Set(sorted.prefix(rowLimit).map(\.0)), rows.count - rowLimit)
  }
}

extension Sampler {
  /// What times of frames count from.
  private static let origin = ContinuousClock.now

  private static func milliseconds(_ duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
  }

  /// How many of a subscriber's handlers have been timed, and for how long the first of them has run.
  private static func times(
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
      counts.handled, counts.failed, counts.dropped, counts.waiting,
      questions.asked, questions.answered, questions.failed, questions.late, questions.abandoned,
    ]
  }

  /// The event with texts; empty if it would say nothing.
  private static func texts(
    isAll: Bool, _ labels: JSONText, _ incidents: [IncidentRing.Entry],
    at now: ContinuousClock.Instant
  ) -> ByteBuffer {
    if !isAll, labels.bytes.isEmpty, incidents.isEmpty { return ByteBuffer() }
    var json = JSONText()
    json.object { json in
      json.name("all")
      json.number(isAll ? 1 : 0)
      json.name("subscribers")
      json.array { $0.append(labels) }
      json.name("incidents")
      json.array { json in
        for entry in incidents {
          let incident = entry.incident
          json.object { json in
            json.name("number")
            json.number(entry.number)
            json.name("age")
            json.number(milliseconds(entry.instant.duration(to: now)))
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
            json.number(incident.dropped)
          }
        }
      }
    }
    return Frame.event("texts", json)
  }
}
