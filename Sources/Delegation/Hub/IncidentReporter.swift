/// Calls the hook with incidents, one at a time and in order, without delaying any call.
///
/// Code that finds an incident leaves it here and goes on. A separate task calls the hook as long as there
/// are any. That task is counted as a worker, so a drained hub has reported them all.
final class IncidentReporter: Sendable {
  typealias Hook = @Sendable (DelegateHub.Incident) -> Void

  /// The user's hook, where it is called, and what it is told beside the incident.
  struct Recipient: Sendable {
    let hook: Hook
    var executor: (any TaskExecutor)?
    var propagating: [TaskLocalPropagation] = []
    /// The time by the hub's clock.
    var now: @Sendable () -> Duration = { .zero }
  }

  private struct State: Sendable {
    /// What is left for the task that calls the hook; `nil` while there is no such task.
    var waiting: [DelegateHub.Incident]?
    /// Who is told.
    ///
    /// `nil` when the hub is released: the hook may keep incidents, and their subscriptions keep this reporter.
    /// The task that calls it keeps it until it has reported what waits.
    var recipient: Recipient?
  }

  /// How many may wait; further ones are counted in the last of them.
  static let capacity = 256

  private let activity: Activity
  private let state: Lock<State>

  init(_ recipient: Recipient, activity: Activity) {
    state = Lock(State(recipient: recipient))
    self.activity = activity
  }

  /// Takes an incident and returns at once.
  ///
  /// In the task that has found it: the task-locals there are those of the call, unless the incident has its own.
  ///
  /// Nobody is told of those that are found after the hub was released.
  func report(_ incident: DelegateHub.Incident) {
    guard let recipient = state.withLock({ $0.recipient }) else { return }
    var incident = incident
    if incident.context == nil { incident.context = recipient.propagating.map { $0.capture() } }
    if let start = incident.start { incident.duration = recipient.now() - start }
    let isFirst = state.withLock { [incident] state in
      guard state.recipient != nil else { return false }
      guard let count = state.waiting?.count else {
        state.waiting = [incident]
        return true
      }
      if count < Self.capacity {
        state.waiting?.append(incident)
      } else {
        state.waiting?[count - 1].leftOut += 1
      }
      return false
    }
    guard isFirst else { return }
    activity.begin()
    Task.startDetached(on: recipient.executor) { [hook = recipient.hook] in
      while let incident = self.next() {
        await (incident.context ?? []).bind { hook(incident) }
        // The executor may have other work, and the hook may cause further incidents.
        await Task.yield()
      }
      self.activity.end()
    }
  }

  /// Releases the hook and its executor as soon as all incidents have been reported, because the hub is released.
  ///
  /// Must not be called under a lock.
  func close() {
    let recipient = state.withLock { $0.recipient.take() }
    withExtendedLifetime(recipient) {}
  }

  /// Takes the next incident, or notes that the task ends.
  private func next() -> DelegateHub.Incident? {
    state.withLock { state in
      if state.waiting?.isEmpty == false { return state.waiting?.removeFirst() }
      state.waiting = nil
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
