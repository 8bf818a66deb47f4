/// Notices handlers that run for longer than they should, while they run.
///
/// One alarm serves all handlers: when it is due, it reports the handlers that have run since it was set, so a
/// slow one is noticed before it has run for twice the limit. While no handler runs there is none, or one that is
/// due for the last time.
@usableFromInline
final class SlowWatch: Sendable {
  @usableFromInline
  typealias Ticket = Int

  private struct State: Sendable {
    var lastTicket = 0
    /// The running handlers that have not been reported, by ticket.
    var running: [Ticket: (node: SubscriptionNode, call: CallKind)] = [:]
    /// Whether an alarm is set, or about to be.
    var isWatching = false
  }

  private let limit: Duration
  private let deadlines: DeadlineQueue
  private let state = Lock(State())

  init(after limit: Duration, by deadlines: DeadlineQueue) {
    self.limit = limit
    self.deadlines = deadlines
  }

  /// Notes that a handler begins.
  @usableFromInline
  func begin(_ node: SubscriptionNode, in call: CallKind) -> Ticket {
    let (ticket, isFirst) = state.withLock { state in
      state.lastTicket += 1
      state.running[state.lastTicket] = (node, call)
      defer { state.isWatching = true }
      return (state.lastTicket, !state.isWatching)
    }
    // In a task of its own, so that it is for the handlers, too, that begin at the same time.
    if isFirst { deadlines.start { [weak self] in self?.watch() } }
    return ticket
  }

  /// Notes that a handler has ended.
  @usableFromInline
  func end(_ ticket: Ticket) {
    state.withLock { $0.running[ticket] = nil }
  }

  /// Sets the alarm for the handlers that run now, if there are any.
  private func watch() {
    let newest = state.withLock { state in
      state.isWatching = !state.running.isEmpty
      return state.running.keys.max()
    }
    guard let newest, let deadline = deadlines.deadline(after: limit) else { return }
    // Without the deadline, which keeps the queue that keeps this.
    _ = deadline.schedule { [weak self, time = deadline.time] in
      guard let self else { return }
      // By a clock that cannot sleep nobody is slow, and to set the next alarm would be to spin.
      guard deadlines.now() >= time else { return state.withLock { $0.isWatching = false } }
      let slow = state.withLock { state in
        let slow = state.running.filter { $0.key <= newest }
        for ticket in slow.keys { state.running[ticket] = nil }
        return slow.sorted { $0.key < $1.key }.map(\.value)
      }
      for (node, call) in slow { node.report(.slow, in: call) }
      watch()
    }
  }
}
