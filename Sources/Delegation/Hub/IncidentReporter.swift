/// Calls the hook with incidents, one at a time and in order, without delaying any call.
///
/// Code that finds an incident queues it here and goes on. A separate task calls the hook as long as there
/// are any. That task is counted as a worker, so a drained hub has reported them all.
///
/// Invariant: while incidents wait, exactly one task is running or started that will report them.
final class IncidentReporter: Sendable {
  typealias Hook = @Sendable (DelegateHub.Incident) -> Void

  private struct State: Sendable {
    var waiting = Queue<DelegateHub.Incident>()
    var isTelling = false
    /// `nil` when the hub is released and all incidents have been reported: the hook may keep incidents, and
    /// their subscriptions keep this reporter.
    var recipient: Recipient?
    var isClosed = false

    mutating func takeRecipientIfDone() -> Recipient? {
      isClosed && !isTelling ? recipient.take() : nil
    }
  }

  /// The user's hook, and where it is called.
  private struct Recipient: Sendable {
    let hook: Hook
    let executor: (any TaskExecutor)?
  }

  /// How many may wait; further ones are counted in the last of them.
  static let capacity = 256

  private let activity: Activity
  private let state: Lock<State>

  init(_ hook: @escaping Hook, on executor: (any TaskExecutor)?, activity: Activity) {
    state = Lock(State(recipient: Recipient(hook: hook, executor: executor)))
    self.activity = activity
  }

  /// Takes an incident and returns at once.
  ///
  /// Nobody is told of those that are found when the hub is released and all others have been reported.
  func report(_ incident: DelegateHub.Incident) {
    let recipient = state.withLock { state -> Recipient? in
      guard let recipient = state.recipient else { return nil }
      if state.waiting.count < Self.capacity {
        state.waiting.append(incident)
      } else {
        state.waiting.updateLast { $0.leftOut += 1 }
      }
      defer { state.isTelling = true }
      return state.isTelling ? nil : recipient
    }
    guard let recipient else { return }
    activity.begin()
    Task.startDetached(on: recipient.executor) {
      await self.tell()
      self.activity.end()
    }
  }

  /// Releases the hook and its executor as soon as all incidents have been reported, because the hub is released.
  ///
  /// Must not be called under a lock.
  func close() {
    let recipient = state.withLock { state in
      state.isClosed = true
      return state.takeRecipientIfDone()
    }
    withExtendedLifetime(recipient) {}
  }

  private func tell() async {
    while let (incident, hook) = next() {
      hook(incident)
      // The executor may have other work, and the hook may cause further incidents.
      await Task.yield()
    }
  }

  private func next() -> (DelegateHub.Incident, Hook)? {
    let (next, released) = state.withLock { state -> ((DelegateHub.Incident, Hook)?, Recipient?) in
      if let hook = state.recipient?.hook, let incident = state.waiting.popFirst() {
        return ((incident, hook), nil)
      }
      state.isTelling = false
      return (nil, state.takeRecipientIfDone())
    }
    withExtendedLifetime(released) {}
    return next
  }
}
