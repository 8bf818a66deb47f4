/// Notices handlers that run for longer than they should, while they run: the hub's outermost interceptor.
///
/// One alarm serves all handlers: when it is due, it reports the handlers that have run since it was set, so a
/// slow one is noticed before it has run for twice the limit. While no handler runs there is none, or one that is
/// due for the last time.
final class SlowWatch: DelegateHub.Interceptor {
  private struct Handler: Sendable {
    let call: DelegateHub.HandlerCall
    let start: Duration
    let context: TaskLocalPropagation.Context
    var isReported = false
  }

  private struct State: Sendable {
    var lastNumber = 0
    var running: [Int: Handler] = [:]
    /// Whether an alarm is set, or about to be.
    var isWatching = false
  }

  private let limit: Duration
  private let deadlines: DeadlineQueue
  /// What incidents carry from their calls.
  private let propagating: [TaskLocalPropagation]
  private let state = Lock(State())

  init(
    after limit: Duration, by deadlines: DeadlineQueue, propagating: [TaskLocalPropagation] = []
  ) {
    self.limit = limit
    self.deadlines = deadlines
    self.propagating = propagating
  }

  nonisolated(nonsending) func intercept(
    _ call: DelegateHub.HandlerCall,
    next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
  ) async -> DelegateHub.HandlerOutcome {
    let handler = Handler(
      call: call, start: deadlines.now(), context: propagating.map { $0.capture() })
    let (number, isFirst) = state.withLock { state in
      state.lastNumber += 1
      state.running[state.lastNumber] = handler
      defer { state.isWatching = true }
      return (state.lastNumber, !state.isWatching)
    }
    // In a task of its own, so that it is for the handlers, too, that begin at the same time.
    if isFirst { deadlines.start { [weak self] in self?.watch() } }
    let outcome = await next()
    // Released outside the lock.
    _ = state.withLock { $0.running.removeValue(forKey: number) }
    return outcome
  }

  /// Sets the alarm for the handlers that run now and were not reported, if there are any.
  private func watch() {
    let newest = state.withLock { state in
      let newest = state.running.filter { !$0.value.isReported }.keys.max()
      state.isWatching = newest != nil
      return newest
    }
    guard let newest, let deadline = deadlines.deadline(after: limit) else { return }
    // Without the deadline, which keeps the queue that keeps this.
    _ = deadline.schedule { [weak self, time = deadline.time] in
      guard let self else { return }
      // By a clock that cannot sleep nobody is slow, and to set the next alarm would be to spin.
      guard deadlines.now() >= time else { return state.withLock { $0.isWatching = false } }
      let slow = state.withLock { state in
        let slow = state.running.filter { $0.key <= newest && !$0.value.isReported }
        for ticket in slow.keys { state.running[ticket]?.isReported = true }
        return slow.sorted { $0.key < $1.key }.map(\.value)
      }
      for handler in slow {
        handler.call.subscription.node.report(
          .slow, in: handler.call.call.code, since: handler.start, context: handler.context)
      }
      watch()
    }
  }
}
