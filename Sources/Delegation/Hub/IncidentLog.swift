/// Chooses the lines about incidents that are written to standard error, for all hubs of the program.
///
/// Each subscription and kind has at most one line a second. Incidents that are left out are counted, and
/// the latest of them is the line of the next second. Subscribers that died unheard are reported once
/// each; those that subscribed at the same place count as one subscription.
///
/// Invariant: `entries` has what was written or left out in this second or the last one, and never more
/// than `capacity` entries; while it is not empty, a clock is running.
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
    /// The order of the lines.
    let number: Int
    /// How many were left out since the last line.
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

  private var entries: [Key: Entry] = [:]
  private var lastNumber = 0
  /// How many found no room among the entries.
  private var others = 0

  /// What has to be done after an incident was added.
  struct Outcome: Sendable {
    /// The line to write now, if any.
    var line: Line?
    /// Whether a clock has to be started that calls ``tick()`` each second until that returns false.
    var startsClock = false
    /// For the caller to release outside the lock.
    var former: DelegateHub.Incident?
  }

  /// Adds an incident.
  mutating func add(_ incident: DelegateHub.Incident) -> Outcome {
    let key = Key(incident)
    if let index = entries.index(forKey: key) {
      let former = entries.values[index].latest
      entries.values[index].leftOut += 1 + incident.leftOut
      entries.values[index].latest = incident
      return Outcome(former: former)
    }
    guard entries.count < Self.capacity else {
      others += 1 + incident.leftOut
      return Outcome()
    }
    lastNumber += 1
    entries[key] = Entry(number: lastNumber)
    return Outcome(line: .incident(incident, leftOut: 0), startsClock: entries.count == 1)
  }

  /// Begins a second.
  ///
  /// - Returns: the lines to write, and whether the clock is to go on.
  mutating func tick() -> (lines: [Line], goesOn: Bool) {
    entries = entries.filter { $0.value.leftOut > 0 }
    var lines: [Line] = []
    for (key, entry) in entries.sorted(by: { $0.value.number < $1.value.number }) {
      guard let latest = entry.latest else { continue }
      lines.append(.incident(latest, leftOut: entry.leftOut - 1 - latest.leftOut))
      entries[key] = Entry(number: entry.number)
    }
    if others > 0 {
      lines.append(.others(others))
      others = 0
    }
    return (lines, !entries.isEmpty)
  }
}

extension IncidentLog {
  private static let shared = Lock(IncidentLog())

  /// Writes an incident's line, now or in a second.
  static func write(_ incident: DelegateHub.Incident) {
    let outcome = shared.withLock { $0.add(incident) }
    if let line = outcome.line { StandardError.write(line: line.text) }
    guard outcome.startsClock else { return }
    Task.detached {
      var goesOn = true
      while goesOn {
        // Nobody cancels this task.
        try? await Task.sleep(for: .seconds(1))
        let (lines, more) = shared.withLock { $0.tick() }
        for line in lines { StandardError.write(line: line.text) }
        goesOn = more
      }
    }
  }
}

extension DelegateHub.Incident {
  /// Writes the incident to standard error as one line, as a hub does by default.
  ///
  /// At most one a second for each subscription and kind: of the incidents in between, the latest is written
  /// when the second is over, with the number left out. What is left when the program ends is not written.
  ///
  /// **Isolation.** Works from any thread, for the incidents of all hubs.
  ///
  /// - Complexity: O(1).
  public func writeToStandardError() {
    IncidentLog.write(self)
  }
}
