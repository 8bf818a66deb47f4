@testable import Delegation

/// A clock that stands still until it is advanced.
final class ManualClock: Clock {
  struct Instant: InstantProtocol {
    var offset: Duration = .zero

    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.offset < rhs.offset }
  }

  private struct Sleeper: Sendable {
    let ticket: Int
    let deadline: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State: Sendable {
    var now = Instant()
    var sleepers: [Sleeper] = []
    var lastTicket = 0
  }

  private let state = Lock(State())
  /// Records who went to sleep, for tests to wait for.
  private let falls = Recorder<Instant>()

  var now: Instant { state.withLock { $0.now } }
  var minimumResolution: Duration { .zero }

  /// How many are asleep.
  var sleepers: Int { state.withLock { $0.sleepers.count } }

  /// Waiters until that many have gone to sleep, and gives the times for which they set the alarm.
  func alarms(_ count: Int = 1) async -> [Duration] {
    await falls.history(of: count).map(\.offset)
  }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let ticket = state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isDue = state.withLock { state in
          if deadline <= state.now { return true }
          state.sleepers.append(
            Sleeper(ticket: ticket, deadline: deadline, continuation: continuation))
          return false
        }
        if isDue { return continuation.resume() }
        falls.record(deadline)
        if Task.isCancelled { wake(ticket) }
      }
    } onCancel: {
      wake(ticket)
    }
  }

  /// Lets time pass, and wakes those whose time has come.
  func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.deadline <= state.now }
      state.sleepers.removeAll { $0.deadline <= state.now }
      return due
    }
    for sleeper in due { sleeper.continuation.resume() }
  }

  private func wake(_ ticket: Int) {
    let sleeper = state.withLock { state -> Sleeper? in
      guard let index = state.sleepers.firstIndex(where: { $0.ticket == ticket }) else {
        return nil
      }
      return state.sleepers.remove(at: index)
    }
    sleeper?.continuation.resume(throwing: CancellationError())
  }
}
