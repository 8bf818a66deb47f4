import Delegation

/// What the page shows, with names, for scripts.
enum Snapshot {
  typealias Statistics = DelegateHub.Statistics

  static func json(
    of samples: [Sampler.Hub], _ report: HubWatch.Report, _ history: [PageHistory.Sums],
    limits: [String: Int] = [:], troubles: [HubPageService.Trouble] = [],
    at now: ContinuousClock.Instant
  ) -> [UInt8] {
    var json = JSONText()
    json.object { json in
      json.name("troubles")
      Sampler.write(troubles, into: &json, at: now)
      json.name("hubs")
      json.array { json in
        for sample in samples {
          json.object { json in
            json.name("name")
            json.text(sample.name)
            json.name("protocols")
            json.array { json in
              for part in sample.statistics.protocols {
                json.object { json in
                  json.name("name")
                  json.text(part.name)
                  if let limit = limits[part.name] {
                    json.name("limit")
                    json.number(limit)
                  }
                  write(part.counts, part.questions, into: &json)
                  json.name("subscribers")
                  json.array { json in
                    for row in part.subscribers { write(row, report, into: &json, at: now) }
                  }
                }
              }
            }
          }
        }
      }
      json.name("incidents")
      Sampler.write(report.incidents, into: &json, at: now)
      json.name("history")
      json.object { json in
        json.name("columns")
        json.array { json in
          for name in ["age", "notified", "asked", "waiting", "running", "lost", "failed", "late"] {
            json.text(name)
          }
        }
        json.name("rows")
        json.array { json in
          for sums in history { json.numbers([Sampler.time(now) - sums.time] + sums.values) }
        }
      }
    }
    return json.bytes + Array("\n".utf8)
  }

  private static func write(
    _ row: Statistics.SubscriberStatistics, _ report: HubWatch.Report, into json: inout JSONText,
    at now: ContinuousClock.Instant
  ) {
    json.object { json in
      json.name("subscriber")
      json.text(row.subscriber)
      json.name("site")
      json.text(row.site)
      json.name("running")
      json.number(row.running)
      json.name("runningFor")
      json.number(Sampler.times(of: row, in: report, at: now).age)
      if let most = report.most[row.subscription] {
        // In microseconds; of one that still runs, so far.
        json.name(most.isAtLeast ? "p99AtLeast" : "p99")
        json.number(max(1, Int(most.duration / .microseconds(1))))
      }
      write(row.counts, row.questions, into: &json)
    }
  }

  private static func write(
    _ counts: Statistics.Counts, _ questions: Statistics.Questions, into json: inout JSONText
  ) {
    let values: [(StaticString, Int)] = [
      ("handled", counts.handled), ("failed", counts.failed), ("lost", counts.lost),
      ("dropped", counts.dropped), ("cancelled", counts.cancelled), ("expired", counts.expired),
      ("passedOver", counts.passedOver), ("waiting", counts.waiting), ("handling", counts.handling),
      ("asked", questions.asked), ("answered", questions.answered), ("late", questions.late),
      ("failedToAnswer", questions.failed), ("abandoned", questions.abandoned),
      ("answering", questions.answering),
    ]
    for (name, value) in values {
      json.name(name)
      json.number(value)
    }
  }
}
