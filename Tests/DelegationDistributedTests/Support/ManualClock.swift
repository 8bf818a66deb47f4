import LoopbackCluster

/// A clock that stands still until it is advanced.
final class ManualClock: Clock {
  struct Instant: InstantProtocol {
    var offset = Duration.zero

    func advanced(by duration: Duration) -> Self { Self(offset: offset + duration) }
    func duration(to other: Self) -> Duration { other.offset - offset }
    static func < (one: Self, other: Self) -> Bool { one.offset < other.offset }
  }

  private struct State {
    var now = Instant()
    var alarms: [(time: Instant, bell: AsyncStream<Never>.Continuation)] = []
  }

  private let state = Locked(State())

  var now: Instant { state.withLock { $0.now } }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let (ringing, bell) = AsyncStream.makeStream(of: Never.self)
    let isDue = state.withLock { state in
      if deadline > state.now { state.alarms.append((deadline, bell)) }
      return deadline <= state.now
    }
    if isDue { return }
    // Ends when the bell has finished, or the task is cancelled.
    for await _ in ringing {}
    try Task.checkCancellation()
  }

  /// Lets time pass, and wakes those whose time has come.
  func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      defer { state.alarms.removeAll { $0.time <= state.now } }
      return state.alarms.filter { $0.time <= state.now }
    }
    for alarm in due { alarm.bell.finish() }
  }
}
