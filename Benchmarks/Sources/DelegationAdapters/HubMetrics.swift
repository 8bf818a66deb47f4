public import CoreMetrics
public import Delegation
public import ServiceLifecycle

/// Hands a hub's statistics to swift-metrics.
///
/// For each protocol there is a counter `NAME_notifications_total` for every outcome that has come up (`handled`,
/// `failed`, `expired`, `dropped`, `cancelled`, `passedOver`), a counter `NAME_questions_total` for every outcome of
/// questions that has (`answered`, `failed`, `late`, `abandoned`), and the meters `NAME_notifications_waiting`,
/// `NAME_questions_answering`, `NAME_handlers_running` and `NAME_subscribers`, all with the dimension `protocol`.
/// Handlers that hang are among those running, also of a subscriber that has been removed. When no hub has a protocol
/// any more, its meters show 0.
///
/// Statistics are absolute and counters take steps, so it remembers what it has reported: have one for each hub.
public actor HubMetrics {
  private struct Key: Hashable {
    let name: String
    /// What the outcome is of.
    let label: String
    let outcome: String
  }

  /// What hubs say of one protocol, added up.
  private struct Sum {
    var notifications: [String: Int] = [:]
    var questions: [String: Int] = [:]
    var levels = [
      "notifications_waiting": 0, "questions_answering": 0, "handlers_running": 0, "subscribers": 0,
    ]

    mutating func add(_ part: DelegateHub.Statistics.ProtocolStatistics) {
      let (counts, asked) = (part.counts, part.questions)
      notifications.merge(
        [
          "handled": counts.handled, "failed": counts.failed, "expired": counts.expired,
          "dropped": counts.dropped, "cancelled": counts.cancelled,
          "passedOver": counts.passedOver,
        ], uniquingKeysWith: +)
      questions.merge(
        [
          "answered": asked.answered, "failed": asked.failed, "late": asked.late,
          "abandoned": asked.abandoned,
        ], uniquingKeysWith: +)
      levels.merge(
        [
          "notifications_waiting": counts.waiting, "questions_answering": asked.answering,
          "handlers_running": part.subscribers.reduce(0) { $0 + $1.running },
          "subscribers": part.subscribers.count { $0.subscription.isActive },
        ], uniquingKeysWith: +)
    }
  }

  private let name: String
  private let factory: any MetricsFactory
  private let hubs: @Sendable () async -> [DelegateHub]
  private var reported: [Key: Int] = [:]
  /// The protocols whose meters may show something else than 0.
  private var standing: Set<String> = []

  /// Makes metrics of one hub, or of hubs of one kind, added up.
  ///
  /// A hub that goes takes its counts with it: a counter stands still until the others have made up for them.
  ///
  /// - Parameters:
  ///   - name: what the metrics' labels begin with.
  ///   - factory: where they go.
  ///   - hubs: the hubs that there are at a time.
  public init(
    named name: String, factory: any MetricsFactory = MetricsSystem.factory,
    hubs: @escaping @Sendable () async -> [DelegateHub]
  ) {
    self.name = name
    self.factory = factory
    self.hubs = hubs
  }

  /// Reports what has happened since the last time.
  ///
  /// - Complexity: O(*n*) in the hubs' *n* subscriptions.
  public func report() async {
    var sums: [String: Sum] = [:]
    for hub in await hubs() {
      for part in hub.statistics().protocols { sums[part.name, default: Sum()].add(part) }
    }
    for name in standing.union(sums.keys) {
      let sum = sums[name] ?? Sum()
      for (label, counts) in [("notifications", sum.notifications), ("questions", sum.questions)] {
        for (outcome, count) in counts {
          add(count, to: Key(name: name, label: label, outcome: outcome))
        }
      }
      for (label, value) in sum.levels {
        Meter(label: "\(self.name)_\(label)", dimensions: [("protocol", name)], factory: factory)
          .set(value)
      }
    }
    standing = Set(sums.keys)
  }

  private func add(_ count: Int, to key: Key) {
    let step = count - reported[key, default: 0]
    guard step > 0 else { return }
    reported[key] = count
    Counter(
      label: "\(name)_\(key.label)_total",
      dimensions: [("protocol", key.name), ("outcome", key.outcome)], factory: factory
    ).increment(by: step)
  }
}

/// Reports a hub's metrics at intervals, as a part of a `ServiceGroup`.
///
/// List it before the ``DrainService``: a group stops its services in reverse order, and the last report is to count
/// what was drained.
///
/// ```swift
/// HubMetricsService(HubMetrics(named: "worker") { [hub] }, every: .seconds(10))
/// ```
public struct HubMetricsService: Service {
  private let metrics: HubMetrics
  private let interval: Duration

  /// Makes a service.
  ///
  /// - Parameters:
  ///   - metrics: what to report.
  ///   - interval: how long to wait between two reports.
  public init(_ metrics: HubMetrics, every interval: Duration) {
    self.metrics = metrics
    self.interval = interval
  }

  /// Reports until the group shuts down, and once more then.
  public func run() async {
    await cancelWhenGracefulShutdown {
      while (try? await Task.sleep(for: interval)) != nil { await metrics.report() }
    }
    await metrics.report()
  }
}
