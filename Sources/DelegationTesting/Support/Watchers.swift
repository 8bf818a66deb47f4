/// Tasks that wait until a number has been reached, and then get a report.
struct Watchers<Report: Sendable>: Sendable {
  private struct Watcher: Sendable {
    let ticket: Int
    let count: Int
    let continuation: CheckedContinuation<Report, Never>
  }

  private var watchers: [Watcher] = []
  private var lastTicket = 0

  mutating func makeTicket() -> Int {
    lastTicket += 1
    return lastTicket
  }

  mutating func add(
    _ continuation: CheckedContinuation<Report, Never>, waitingFor count: Int, ticket: Int
  ) {
    watchers.append(Watcher(ticket: ticket, count: count, continuation: continuation))
  }

  /// Takes out the task with a ticket, if it still waits.
  mutating func remove(_ ticket: Int) -> CheckedContinuation<Report, Never>? {
    guard let index = watchers.firstIndex(where: { $0.ticket == ticket }) else { return nil }
    return watchers.remove(at: index).continuation
  }

  /// Takes out the tasks whose number has been reached, for the caller to resume after the lock.
  mutating func removeAll(reaching count: Int) -> [CheckedContinuation<Report, Never>] {
    guard watchers.contains(where: { $0.count <= count }) else { return [] }
    let ready = watchers.filter { $0.count <= count }.map(\.continuation)
    watchers.removeAll { $0.count <= count }
    return ready
  }
}

/// State with a number that tasks wait for.
protocol Watched: Sendable {
  associatedtype Report: Sendable
  /// The number.
  var reached: Int { get }
  /// What a task gets that has waited.
  var report: Report { get }
  /// The waiting tasks; none of them waits for a number that has been reached.
  var watchers: Watchers<Report> { get set }
}

extension Guarded where State: Watched {
  /// Waits until the number has been reached, or the task is cancelled.
  ///
  /// - Returns: the report of that moment.
  borrowing func wait(until count: Int) async -> State.Report {
    let ticket = withLock { $0.watchers.makeTicket() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let report: State.Report? = withLock { state in
          if state.reached >= count { return state.report }
          state.watchers.add(continuation, waitingFor: count, ticket: ticket)
          return nil
        }
        if let report { return continuation.resume(returning: report) }
        // The handler below may have run before the watcher was added.
        if Task.isCancelled { stopWaiting(ticket) }
      }
    } onCancel: {
      stopWaiting(ticket)
    }
  }

  private borrowing func stopWaiting(_ ticket: Int) {
    let (watcher, report) = withLock { ($0.watchers.remove(ticket), $0.report) }
    watcher?.resume(returning: report)
  }
}
