/// Limits the lines about incidents on standard error to 20 a second, for all hubs of the program.
///
/// A second begins with its first line. Incidents beyond the limit are counted, and one line has their number when
/// the second is over.
///
/// Invariant: a clock is running while `leftOut` is above zero.
struct IncidentLog: Sendable {
  /// What has to be done about an incident.
  enum Step: Sendable, Equatable {
    /// To write its line.
    case write
    /// Nothing: it is counted.
    case leaveOut
    /// As ``leaveOut``, and ``takeLeftOut()`` has to be called at that time.
    case leaveOutUntil(ContinuousClock.Instant)
  }

  static let mostLines = 20

  private var end: ContinuousClock.Instant?
  private var lines = 0
  private var leftOut = 0

  /// Takes an incident.
  ///
  /// - Parameters:
  ///   - count: how many incidents it stands for.
  ///   - now: the time, which is no earlier than it was before.
  /// - Returns: what has to be done.
  mutating func add(_ count: Int, at now: ContinuousClock.Instant) -> Step {
    var present = end ?? now
    if present <= now {
      present = now + .seconds(1)
      lines = 0
    }
    end = present
    if lines < Self.mostLines {
      lines += 1
      return .write
    }
    defer { leftOut += count }
    return leftOut == 0 ? .leaveOutUntil(present) : .leaveOut
  }

  /// How many incidents were left out since the last time.
  mutating func takeLeftOut() -> Int {
    defer { leftOut = 0 }
    return leftOut
  }
}

extension IncidentLog {
  private static let shared = Lock(IncidentLog())

  /// Writes an incident's line, if there is room for it.
  static func write(_ incident: DelegateHub.Incident) {
    // The time is read under the lock: it is no earlier than it was for anybody before.
    switch shared.withLock({ $0.add(1 + incident.leftOut, at: .now) }) {
    case .write: StandardError.write(line: "DelegateHub: \(incident)")
    case .leaveOut: break
    case .leaveOutUntil(let end):
      Task.detached {
        // Nobody cancels this task.
        try? await Task.sleep(until: end, clock: .continuous)
        let count = shared.withLock { $0.takeLeftOut() }
        StandardError.write(line: "DelegateHub: and \(count) more incidents")
      }
    }
  }
}

extension DelegateHub.Incident {
  /// Writes the incident to standard error as one line, as a hub does by default.
  ///
  /// It writes at most 20 lines a second, then how many more incidents there were. What is left when the program
  /// ends is not written.
  ///
  /// **Isolation.** Works from any thread, for the incidents of all hubs.
  ///
  /// - Complexity: O(1).
  public func writeToStandardError() {
    IncidentLog.write(self)
  }
}
