/// Tells the user of incidents, one at a time and in order, in nobody's way.
///
/// Whoever finds an incident leaves it here and goes on; a task of its own calls the hook, as long as
/// there are any. That task is counted as a worker, so a hub that is drained has told them all.
///
/// Invariant: while incidents wait, one task is on its way that will tell them, and at most one is.
final class IncidentReporter: Sendable {
  typealias Hook = @Sendable (DelegateHub.Incident) -> Void

  private struct State: Sendable {
    var waiting = Queue<DelegateHub.Incident>()
    var isTelling = false
    /// `nil` when the hub is gone and all has been told: the user may keep incidents where the hook keeps
    /// them, and by their subscriptions they keep the hook.
    var hook: Hook?
    var isClosed = false

    mutating func takeHookIfDone() -> Hook? { isClosed && !isTelling ? hook.take() : nil }
  }

  /// How many may wait; what comes then is counted in the last of them.
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

  /// Releases the hook when all has been told, for the hub is gone.
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
      // The executor may have other work, and the hook may cause what it is told of next.
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
