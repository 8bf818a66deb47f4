/// Notices handlers that run for longer than they should, while they run.
///
/// One alarm serves all handlers: when it is due, it reports the handlers that have run since it was set, so a
/// slow one is noticed before it has run for twice the limit. While no handler runs there is none, or one that is
/// due for the last time.
@usableFromInline
final class SlowWatch: Sendable {
  @usableFromInline
  typealias Ticket = Int

  private struct Handler: Sendable {
    let node: SubscriptionNode
    let call: CallKind
    let start: Duration
    let context: TaskLocalPropagation.Context
    var isReported = false
  }

  private struct State: Sendable {
    var lastTicket = 0
    var running: [Ticket: Handler] = [:]
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

  /// Notes that a handler begins, in a task that has the task-locals of its call.
  @usableFromInline
  func begin(_ node: SubscriptionNode, in call: CallKind) -> Ticket {
    let handler = Handler(
      node: node, call: call, start: deadlines.now(), context: propagating.map { $0.capture() })
    let (ticket, isFirst) = state.withLock { state in
      state.lastTicket += 1
      state.running[state.lastTicket] = handler
      defer { state.isWatching = true }
      return (state.lastTicket, !state.isWatching)
    }
    // In a task of its own, so that it is for the handlers, too, that begin at the same time.
    if isFirst { deadlines.start { [weak self] in self?.watch() } }
    return ticket
  }

  /// Notes that a handler has ended.
  ///
  /// - Returns: when it began.
  @usableFromInline
  @discardableResult
  func end(_ ticket: Ticket) -> Duration? {
    let former = state.withLock { $0.running.removeValue(forKey: ticket) }
    return former?.start
  }

  /// How long it has been since a time.
  func elapsed(since start: Duration) -> Duration { deadlines.now() - start }

  /// When a handler that is running began.
  func start(of ticket: Ticket) -> Duration? { state.withLock { $0.running[ticket]?.start } }

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
        handler.node.report(
          .slow, in: handler.call, since: handler.start, context: handler.context)
      }
      watch()
    }
  }
}
