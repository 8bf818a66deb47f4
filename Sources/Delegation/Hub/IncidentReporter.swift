/// Calls the hook with incidents, one at a time and in order, without delaying any call.
///
/// Code that finds an incident leaves it here and goes on. A separate task calls the hook as long as there
/// are any. That task is counted as a worker, so a drained hub has reported them all.
final class IncidentReporter: Sendable {
  typealias Hook = @Sendable (DelegateHub.Incident) -> Void

  private struct State: Sendable {
    /// What is left for the task that calls the hook; `nil` while there is no such task.
    var waiting: [DelegateHub.Incident]?
    /// The user's hook, and where it is called.
    ///
    /// `nil` when the hub is released: the hook may keep incidents, and their subscriptions keep this reporter.
    /// The task that calls it keeps it until it has reported what waits.
    var recipient: (hook: Hook, executor: (any TaskExecutor)?)?
  }

  /// How many may wait; further ones are counted in the last of them.
  static let capacity = 256

  private let activity: Activity
  private let state: Lock<State>

  init(_ hook: @escaping Hook, on executor: (any TaskExecutor)?, activity: Activity) {
    state = Lock(State(recipient: (hook, executor)))
    self.activity = activity
  }

  /// Takes an incident and returns at once.
  ///
  /// Nobody is told of those that are found after the hub was released.
  func report(_ incident: DelegateHub.Incident) {
    let recipient = state.withLock { state -> (hook: Hook, executor: (any TaskExecutor)?)? in
      guard let recipient = state.recipient else { return nil }
      guard let count = state.waiting?.count else {
        state.waiting = [incident]
        return recipient
      }
      if count < Self.capacity {
        state.waiting?.append(incident)
      } else {
        state.waiting?[count - 1].leftOut += 1
      }
      return nil
    }
    guard let (hook, executor) = recipient else { return }
    activity.begin()
    Task.startDetached(on: executor) {
      while let incident = self.next() {
        hook(incident)
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
