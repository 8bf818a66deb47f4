/// Finds first workers that do not come back to their callers, because a handler blocks their thread,
/// and asks for the standby in their place.
///
/// One task for the process looks every few milliseconds while there is anything to look at.
final class Backstop: Sendable {
  typealias Ticket = Int

  static let shared = Backstop()

  private struct State: Sendable {
    var lastTicket = 0
    /// Fan-outs whose first worker is in its caller's place.
    var watched: [Ticket: FanOut] = [:]
    var isLooking = false
  }

  private let state = Lock(State())

  private static let interval = Duration.milliseconds(2)
  /// How many times it finds nothing before it stops looking: starting anew costs a task.
  private static let patience = 50

  /// Begins to watch a fan-out, if anybody could be held up in it.
  func begin(_ fanOut: FanOut) -> Ticket? {
    guard fanOut.unclaimed > 1 else { return nil }
    let (ticket, starts) = state.withLock { state in
      state.lastTicket += 1
      state.watched[state.lastTicket] = fanOut
      defer { state.isLooking = true }
      return (state.lastTicket, !state.isLooking)
    }
    if starts { Task.detached(priority: .high) { await self.look() } }
    return ticket
  }

  func end(_ ticket: Ticket?) {
    guard let ticket else { return }
    // Its last reference is the caller's: nothing is let go under the lock.
    state.withLock { $0.watched[ticket] = nil }
  }

  private func look() async {
    var idle = 0
    while true {
      let newest = state.withLock { $0.lastTicket }
      do {
        try await Task.sleep(for: Self.interval)
      } catch {
        break
      }
      let (stuck, isOver) = state.withLock { state -> ([FanOut], Bool) in
        idle = state.lastTicket == newest && state.watched.isEmpty ? idle + 1 : 0
        if idle > Self.patience {
          state.isLooking = false
          return ([], true)
        }
        let stuck = state.watched.filter { $0.key <= newest }
        for ticket in stuck.keys { state.watched[ticket] = nil }
        return (Array(stuck.values), false)
      }
      if isOver { return }
      for fanOut in stuck where fanOut.unclaimed > 0 { fanOut.summonWorker() }
    }
    state.withLock { $0.isLooking = false }
  }
}
