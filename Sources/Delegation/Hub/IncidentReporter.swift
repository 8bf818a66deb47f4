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
    /// their subscriptions keep the hook.
    var hook: Hook?
    var isClosed = false

    mutating func takeHookIfDone() -> Hook? { isClosed && !isTelling ? hook.take() : nil }
  }

  /// How many may wait; further ones are counted in the last of them.
  static let capacity = 256

  private let executor: (any TaskExecutor)?
  private let activity: Activity
  private let state: Lock<State>

  init(_ hook: @escaping Hook, on executor: (any TaskExecutor)?, activity: Activity) {
    state = Lock(State(hook: hook))
    self.executor = executor
    self.activity = activity
  }

  /// Takes an incident and returns at once.
  func report(_ incident: DelegateHub.Incident) {
    let starts = state.withLock { state in
      if state.waiting.count < Self.capacity {
        state.waiting.append(incident)
      } else {
        state.waiting.updateLast { $0.leftOut += 1 }
      }
      defer { state.isTelling = true }
      return !state.isTelling
    }
    guard starts else { return }
    activity.begin()
    Task.startDetached(on: executor) {
      await self.tell()
      self.activity.end()
    }
  }

  /// Releases the hook as soon as all incidents have been reported, because the hub is released.
  ///
  /// Must not be called under a lock.
  func close() {
    let hook = state.withLock { state in
      state.isClosed = true
      return state.takeHookIfDone()
    }
    withExtendedLifetime(hook) {}
  }

  private func tell() async {
    while let (incident, hook) = next() {
      hook(incident)
      // The executor may have other work, and the hook may cause further incidents.
      await Task.yield()
    }
  }

  private func next() -> (DelegateHub.Incident, Hook)? {
    let (next, released) = state.withLock { state -> ((DelegateHub.Incident, Hook)?, Hook?) in
      if let hook = state.hook, let incident = state.waiting.popFirst() {
        return ((incident, hook), nil)
      }
      state.isTelling = false
      return (nil, state.takeHookIfDone())
    }
    withExtendedLifetime(released) {}
    return next
  }
}
