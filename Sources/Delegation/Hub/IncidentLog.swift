/// Chooses the lines about incidents that are written to standard error, for all hubs of the program.
///
/// Each subscription and kind has at most one line in any second. Incidents that are left out are counted,
/// and the latest of them is the line when the second is over. Subscribers that died unheard are reported
/// once each; those that subscribed at the same place count as one subscription.
///
/// Invariant: `entries` has what was written in the last second, and never more than `capacity` entries;
/// `order` has the same keys, each with the end of its second, in the order of these ends. A clock is running
/// while there is an entry, or an incident that found no room.
struct IncidentLog: Sendable {
  /// What has at most one line a second.
  private enum Key: Sendable, Hashable {
    case subscription(DelegateHub.Subscription, DelegateHub.Incident.Kind)
    case unheard(site: String)

    init(_ incident: DelegateHub.Incident) {
      self =
        incident.kind == .unheard
        ? .unheard(site: incident.site) : .subscription(incident.subscription, incident.kind)
    }
  }

  private struct Entry: Sendable {
    /// How many were left out since the latest line.
    var leftOut = 0
    /// The latest of them.
    var latest: DelegateHub.Incident?
  }

  /// What to write; its text is made outside the lock, because the texts of errors and ids are user code.
  enum Line: Sendable {
    /// An incident, and how many like it were left out.
    case incident(DelegateHub.Incident, leftOut: Int)
    /// The number of incidents that found no room among the entries.
    case others(Int)

    var text: String {
      switch self {
      case .incident(let incident, 0): "DelegateHub: \(incident)"
      case .incident(let incident, let count):
        "DelegateHub: \(incident) (and \(count) more like it)"
      case .others(let count): "DelegateHub: and \(count) more incidents of other subscribers"
      }
    }
  }

  static let capacity = 256

  typealias Instant = ContinuousClock.Instant

  private static let second = Duration.seconds(1)

  private var entries: [Key: Entry] = [:]
  private var order = Queue<(key: Key, end: Instant)>()
  /// How many found no room among the entries.
  private var others = 0
  /// When that is to be written, if there are any.
  private var othersEnd: Instant?

  /// What has to be done after an incident was added.
  struct Outcome: Sendable {
    /// The line to write now, if any.
    var line: Line?
    /// When a clock that has to be started is to call ``tick(at:)`` for the first time, which says when to do
    /// so next.
    var clockStart: Instant?
    /// For the caller to release outside the lock.
    var former: DelegateHub.Incident?
  }

  /// Takes an incident.
  ///
  /// - Parameters:
  ///   - incident: the incident.
  ///   - now: the time, which is no earlier than it was before.
  /// - Returns: what follows from it.
  mutating func add(_ incident: DelegateHub.Incident, at now: Instant) -> Outcome {
    let key = Key(incident)
    if let index = entries.index(forKey: key) {
      let former = entries.values[index].latest
      entries.values[index].leftOut += 1 + incident.leftOut
      entries.values[index].latest = incident
      return Outcome(former: former)
    }
    let end = now + Self.second
    let isClockRunning = !entries.isEmpty || othersEnd != nil
    guard entries.count < Self.capacity else {
      others += 1 + incident.leftOut
      othersEnd = othersEnd ?? end
      return Outcome()
    }
    entries[key] = Entry()
    order.append((key, end))
    return Outcome(
      line: .incident(incident, leftOut: 0), clockStart: isClockRunning ? nil : end)
  }

  /// Ends the seconds that are over.
  ///
  /// - Parameter now: the time, as with ``add(_:at:)``.
  /// - Returns: the lines to write, when the clock is to tick next (`nil` if it is over), and what is to be
  ///   released outside the lock.
  mutating func tick(
    at now: Instant
  ) -> (lines: [Line], next: Instant?, former: [any Sendable]) {
    var lines: [Line] = []
    var former: [any Sendable] = []
    while let first = order.first, first.end <= now {
      _ = order.popFirst()
      former.append(first.key)
      guard let entry = entries.removeValue(forKey: first.key), let latest = entry.latest else {
        continue
      }
      lines.append(.incident(latest, leftOut: entry.leftOut - 1 - latest.leftOut))
      entries[first.key] = Entry()
      order.append((first.key, now + Self.second))
    }
    if let end = othersEnd, end <= now {
      lines.append(.others(others))
      (others, othersEnd) = (0, nil)
    }
    return (lines, [order.first?.end, othersEnd].compactMap(\.self).min(), former)
  }
}

extension IncidentLog {
  private static let shared = Lock(IncidentLog())

  /// Writes an incident's line, now or in a second.
  static func write(_ incident: DelegateHub.Incident) {
    // The time is read under the lock: it is no earlier than it was for anybody before.
    let outcome = shared.withLock { $0.add(incident, at: .now) }
    if let line = outcome.line { StandardError.write(line: line.text) }
    guard let start = outcome.clockStart else { return }
    Task.detached {
      var next: Instant? = start
      while let time = next {
        // Nobody cancels this task.
        try? await Task.sleep(until: time, clock: .continuous)
        let (lines, following, former) = shared.withLock { $0.tick(at: .now) }
        for line in lines { StandardError.write(line: line.text) }
        withExtendedLifetime(former) {}
        next = following
      }
    }
  }
}

extension DelegateHub.Incident {
  /// Writes the incident to standard error as one line, as a hub does by default.
  ///
  /// It writes at most one line a second for each subscription and kind. Of the incidents in
  /// between, it writes the latest when the second is over, with the number of those left out.
  /// Lines that are left when the program ends are not written.
  ///
  /// **Isolation.** Works from any thread, for the incidents of all hubs.
  ///
  /// - Complexity: O(1).
  public func writeToStandardError() {
    IncidentLog.write(self)
  }
}
