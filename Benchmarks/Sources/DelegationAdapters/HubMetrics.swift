public import CoreMetrics
public import Delegation

/// Hands a hub's statistics to swift-metrics.
///
/// For each protocol there is a counter `NAME_notifications_total` for every outcome that has come up
/// (`handled`, `failed`, `expired`, `dropped`, `cancelled`), a meter `NAME_notifications_waiting` and
/// a meter `NAME_subscribers`, all with the dimension `protocol`. When no hub has a protocol any more,
/// its meters show 0.
///
/// Statistics are absolute and counters take steps, so it remembers what it has reported. Of one hub
/// there should be one.
public actor HubMetrics {
  private struct Key: Hashable {
    let name: String
    let outcome: String
  }

  private let name: String
  private let factory: any MetricsFactory
  private let hubs: @Sendable () async -> [DelegateHub]
  private var reported: [Key: Int] = [:]
  /// The protocols whose meters may show something else than 0.
  private var standing: Set<String> = []

  /// Makes metrics of one hub.
  ///
  /// - Parameters:
  ///   - hub: the hub.
  ///   - name: what the metrics' labels begin with.
  ///   - factory: where they go.
  public init(
    _ hub: DelegateHub, named name: String, factory: any MetricsFactory = MetricsSystem.factory
  ) {
    self.init(named: name, factory: factory, hubs: { [hub] })
  }

  /// Makes metrics of hubs of one kind, added up.
  ///
  /// A hub that goes takes its counts with it: a counter stands still until the others have made up for
  /// them.
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
    struct Sum {
      var counts: [(outcome: String, count: Int)] = []
      var waiting = 0
      var subscribers = 0
    }
    var sums: [String: Sum] = [:]
    for hub in await hubs() {
      for part in await hub.statistics().protocols {
        var sum = sums[part.name] ?? Sum()
        let counts = part.counts
        let outcomes = [
          ("handled", counts.handled), ("failed", counts.failed), ("expired", counts.expired),
          ("dropped", counts.dropped), ("cancelled", counts.cancelled),
        ]
        sum.counts =
          sum.counts.isEmpty
          ? outcomes : zip(sum.counts, outcomes).map { ($0.outcome, $0.count + $1.1) }
        sum.waiting += counts.waiting
        sum.subscribers += part.subscribers.count
        sums[part.name] = sum
      }
    }
    for name in standing where sums[name] == nil {
      set("notifications_waiting", of: name, to: 0)
      set("subscribers", of: name, to: 0)
    }
    standing = Set(sums.keys)
    for (name, sum) in sums {
      for (outcome, count) in sum.counts { add(count, to: Key(name: name, outcome: outcome)) }
      set("notifications_waiting", of: name, to: sum.waiting)
      set("subscribers", of: name, to: sum.subscribers)
    }
  }

  private func add(_ count: Int, to key: Key) {
    let step = count - reported[key, default: 0]
    guard step > 0 else { return }
    reported[key] = count
    Counter(
      label: "\(name)_notifications_total",
      dimensions: [("protocol", key.name), ("outcome", key.outcome)], factory: factory
    ).increment(by: step)
  }

  private func set(_ label: String, of protocolName: String, to value: Int) {
    Meter(
      label: "\(name)_\(label)", dimensions: [("protocol", protocolName)], factory: factory
    ).set(value)
  }
}
