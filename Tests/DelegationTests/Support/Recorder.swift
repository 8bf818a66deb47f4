@testable import Delegation

/// Keeps a history of what happened, in order.
final class Recorder<Event: Sendable>: Sendable {
  private struct State: Sendable {
    var events: [Event] = []
    var watchers: [(count: Int, continuation: CheckedContinuation<[Event], Never>)] = []
  }

  // The library's lock, because the thread sanitizer does not see that of `Synchronization`.
  private let state = Lock(State())

  /// Appends an event.
  func record(_ event: Event) {
    let (history, resumed) = state.withLock { state in
      state.events.append(event)
      let count = state.events.count
      let resumed = state.watchers.filter { $0.count <= count }.map(\.continuation)
      state.watchers.removeAll { $0.count <= count }
      // Without watchers no second reference is taken: the next event is appended in place.
      return (resumed.isEmpty ? [] : state.events, resumed)
    }
    for continuation in resumed { continuation.resume(returning: history) }
  }

  /// All events so far.
  var history: [Event] { state.withLock { $0.events } }

  /// Waiters until there are that many events.
  func history(of count: Int) async -> [Event] {
    await withCheckedContinuation { continuation in
      let history: [Event]? = state.withLock { state in
        if state.events.count >= count { return state.events }
        state.watchers.append((count, continuation))
        return nil
      }
      if let history { continuation.resume(returning: history) }
    }
  }
}
