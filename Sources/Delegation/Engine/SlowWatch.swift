/// Notices handlers that run for longer than they should, while they run.
///
/// One task serves all handlers: it sleeps for the time limit and reports the handlers that ran during the
/// whole sleep, so a slow one is noticed before it has run for twice the limit. While no handler runs
/// there is no task.
@usableFromInline
final class SlowWatch: Sendable {
  @usableFromInline
  typealias Ticket = Int

  /// A running handler.
  private struct Handler: Sendable {
    var node: SubscriptionNode
    var call: CallKind
  }

  private struct State: Sendable {
    var lastTicket = 0
    /// The running handlers that have not been reported, by ticket.
    var running: [Ticket: Handler] = [:]
    var isWatched = false
  }

  private let limit: Duration
  private let clock: any Clock<Duration>
  private let executor: (any TaskExecutor)?
  private let report: @Sendable (SubscriptionNode, CallKind) -> Void
  private let state = Lock(State())

  init(
    after limit: Duration, on clock: any Clock<Duration>, executor: (any TaskExecutor)?,
    report: @escaping @Sendable (SubscriptionNode, CallKind) -> Void
  ) {
    self.limit = limit
    self.clock = clock
    self.executor = executor
    self.report = report
  }

  /// Notes that a handler begins.
  @usableFromInline
  func begin(_ node: SubscriptionNode, in call: CallKind) -> Ticket {
    let (ticket, startsWatch) = state.withLock { state in
      state.lastTicket += 1
      state.running[state.lastTicket] = Handler(node: node, call: call)
      defer { state.isWatched = true }
      return (state.lastTicket, !state.isWatched)
    }
    if startsWatch { watch() }
    return ticket
  }

  /// Notes that a handler has ended.
  @usableFromInline
  func end(_ ticket: Ticket) {
    state.withLock { $0.running[ticket] = nil }
  }

  private func watch() {
    let clock = clock
    Task.startDetached(on: executor) {
      // Handlers with tickets up to this one had begun when the sleep began.
      while let newest = self.newestRunning() {
        // Nobody cancels this task; a clock that throws all the same would have it spin.
        do { try await clock.sleep(for: self.limit) } catch { return self.stop() }
        for slow in self.takeSlow(upTo: newest) { self.report(slow.node, slow.call) }
      }
    }
  }

  private func stop() {
    state.withLock { $0.isWatched = false }
  }

  private func newestRunning() -> Ticket? {
    state.withLock { state in
      if state.running.isEmpty { state.isWatched = false }
      return state.running.keys.max()
    }
  }

  private func takeSlow(upTo newest: Ticket) -> [Handler] {
    state.withLock { state in
      let slow = state.running.filter { $0.key <= newest }
      for ticket in slow.keys { state.running[ticket] = nil }
      return slow.sorted { $0.key < $1.key }.map(\.value)
    }
  }
}
