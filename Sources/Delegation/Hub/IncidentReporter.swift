/// Calls the hook with incidents, one at a time and in order, without delaying any call.
///
/// Code that finds an incident leaves it here and goes on. A separate task calls the hook as long as there
/// are any. That task is counted as a worker, so a drained hub has reported them all.
///
/// Only the hub and that task keep it: the hook may keep incidents, and these their subscriptions, which must not keep
/// the hook of a hub that is released.
final class IncidentReporter: Sendable {
  /// How many may wait; further ones are counted in the last of them.
  static let capacity = 256

  private let configuration: DelegateHub.Configuration
  private let executor: (any TaskExecutor)?
  /// The time by the hub's clock.
  private let now: @Sendable () -> Duration
  private let activity: Activity
  /// What is left for the task that calls the hook; `nil` while there is no such task.
  private let waiting = Lock<[DelegateHub.Incident]?>(nil)

  init(
    _ configuration: DelegateHub.Configuration, on executor: (any TaskExecutor)?,
    by now: @escaping @Sendable () -> Duration, countedBy activity: Activity
  ) {
    self.configuration = configuration
    self.executor = executor
    self.now = now
    self.activity = activity
  }

  /// Takes an incident and returns at once.
  ///
  /// In the task that has found it: the task-locals there are those of the call, unless the incident has its own.
  func report(_ incident: DelegateHub.Incident) {
    var incident = incident
    if incident.context == nil {
      incident.context = configuration.propagating.map { $0.capture() }
    }
    if let start = incident.start { incident.duration = now() - start }
    let isFirst = waiting.withLock { [incident] waiting in
      guard let count = waiting?.count else {
        waiting = [incident]
        return true
      }
      if count < Self.capacity {
        waiting?.append(incident)
      } else {
        waiting?[count - 1].leftOut += 1
      }
      return false
    }
    guard isFirst else { return }
    activity.begin()
    Task.startDetached(on: executor) {
      let hook = self.configuration.onIncident
      while let incident = self.next() {
        await (incident.context ?? []).bind { hook(incident) }
        // The executor may have other work, and the hook may cause further incidents.
        await Task.yield()
      }
      self.activity.end()
    }
  }

  /// Takes the next incident, or notes that the task ends.
  private func next() -> DelegateHub.Incident? {
    waiting.withLock { waiting in
      if waiting?.isEmpty == false { return waiting?.removeFirst() }
      waiting = nil
      return nil
    }
  }
}

/// Limits the lines about incidents on standard error to 20 a second, for all hubs of the program.
///
/// A second begins with its first line. Incidents beyond the limit are counted, and one line has their number when
/// the second is over.
///
/// Invariant: while `lines` is above zero, a clock runs that ends the second.
struct IncidentLog: Sendable {
  static let mostLines = 20

  private var lines = 0
  private var leftOut = 0

  /// Takes an incident.
  ///
  /// - Parameter count: how many incidents it stands for.
  /// - Returns: whether its line is to be written, and whether a second begins with it.
  mutating func add(_ count: Int) -> (isWritten: Bool, beginsSecond: Bool) {
    guard lines < Self.mostLines else {
      leftOut += count
      return (false, false)
    }
    lines += 1
    return (true, lines == 1)
  }

  /// Ends the second.
  ///
  /// - Returns: how many incidents were left out in it.
  mutating func endSecond() -> Int {
    defer { self = IncidentLog() }
    return leftOut
  }
}

extension DelegateHub.Incident {
  private static let log = Lock(IncidentLog())

  /// Writes the incident to standard error as one line, as a hub does by default.
  ///
  /// It writes at most 20 lines a second, then how many more incidents there were. What is left when the program
  /// ends is not written.
  ///
  /// **Isolation.** Works from any thread, for the incidents of all hubs.
  ///
  /// - Complexity: O(1).
  public func writeToStandardError() {
    let (isWritten, beginsSecond) = Self.log.withLock { $0.add(1 + leftOut) }
    if isWritten { Platform.writeToStandardError("DelegateHub: \(self)\n") }
    guard beginsSecond else { return }
    Task.detached {
      // Nobody cancels this task.
      try? await Task.sleep(for: .seconds(1))
      let count = Self.log.withLock { $0.endSecond() }
      if count > 0 { Platform.writeToStandardError("DelegateHub: and \(count) more incidents\n") }
    }
  }
}
