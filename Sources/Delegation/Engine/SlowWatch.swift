/// Notices handlers that run for longer than they should, while they run.
///
/// One task serves all handlers: it sleeps for the time limit and reports the handlers that ran during the
/// whole sleep, so a slow one is noticed before it has run for twice the limit. While no handler runs
/// there is no task, or one that sleeps for the last time. It does not keep the watch, whose `deinit`
/// cancels it.
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
    var lastTask = 0
    /// The watching task, if there is one.
    var task: WatchingTask?
  }

  private struct WatchingTask: Sendable {
    /// No other one of this watch ever has it.
    let number: Int
    /// `nil` until it has been started.
    var handle: Task<Void, Never>?
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

  deinit {
    state.withLock { $0.task?.handle }?.cancel()
  }

  /// Notes that a handler begins.
  @usableFromInline
  func begin(_ node: SubscriptionNode, in call: CallKind) -> Ticket {
    let (ticket, newTask) = state.withLock { state -> (Ticket, Int?) in
      state.lastTicket += 1
      state.running[state.lastTicket] = Handler(node: node, call: call)
      if state.task != nil { return (state.lastTicket, nil) }
      state.lastTask += 1
      state.task = WatchingTask(number: state.lastTask)
      return (state.lastTicket, state.lastTask)
    }
    if let newTask { watch(as: newTask) }
    return ticket
  }

  /// Notes that a handler has ended.
  @usableFromInline
  func end(_ ticket: Ticket) {
    state.withLock { $0.running[ticket] = nil }
  }

  private func watch(as number: Int) {
    let task = Task.startDetached(on: executor) { [weak self, clock, limit] in
      // Handlers with tickets up to this one had begun when the sleep began.
      while let newest = self?.newestRunning() {
        // A clock that throws although the watch has not cancelled this task would have it spin.
        do { try await clock.sleep(for: limit) } catch { return self?.stop() ?? () }
        self?.reportSlow(upTo: newest)
      }
    }
    // It may have ended already.
    state.withLock { if $0.task?.number == number { $0.task?.handle = task } }
  }

  private func stop() {
    state.withLock { $0.task = nil }
  }

  private func newestRunning() -> Ticket? {
    state.withLock { state in
      if state.running.isEmpty { state.task = nil }
      return state.running.keys.max()
    }
  }

  private func reportSlow(upTo newest: Ticket) {
    let slow = state.withLock { state in
      let slow = state.running.filter { $0.key <= newest }
      for ticket in slow.keys { state.running[ticket] = nil }
      return slow.sorted { $0.key < $1.key }.map(\.value)
    }
    for slow in slow { report(slow.node, slow.call) }
  }
}
