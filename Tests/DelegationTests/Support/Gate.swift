@testable import Delegation

/// Holds tasks until it is opened; stays open.
final class Gate: Sendable {
  private struct State: Sendable {
    var isOpen = false
    var arrived = 0
    var inside: [CheckedContinuation<Void, Never>] = []
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  // The library's lock, because the thread sanitizer does not see that of `Synchronization`.
  private let state = Lock(State())

  /// Passes the gate, or waits until it opens, also in a task that is cancelled.
  func pass() async {
    await withCheckedContinuation { continuation in
      update { state in
        state.arrived += 1
        state.inside.append(continuation)
      }
    }
  }

  /// Arrives without waiting.
  func arrive() { update { $0.arrived += 1 } }

  /// Waits until that many have arrived at the gate, those that passed included.
  func arrivals(_ count: Int = 1) async {
    await withCheckedContinuation { continuation in
      update { $0.watchers.append((count, continuation)) }
    }
  }

  /// How many have arrived so far.
  var arrived: Int { state.withLock { $0.arrived } }

  /// Waits until somebody has arrived, at most a minute.
  var isReached: Bool {
    get async {
      let end = ContinuousClock.now + .seconds(60)
      while arrived == 0, ContinuousClock.now < end { await Task.yield() }
      return arrived > 0
    }
  }

  /// Lets all pass from now on.
  func open() { update { $0.isOpen = true } }

  private func update(_ change: (inout State) -> Void) {
    let resumed = state.withLock { state in
      change(&state)
      let arrived = state.arrived
      var resumed = state.watchers.filter { $0.count <= arrived }.map(\.continuation)
      state.watchers.removeAll { $0.count <= arrived }
      if state.isOpen {
        resumed += state.inside
        state.inside = []
      }
      return resumed
    }
    for continuation in resumed { continuation.resume() }
  }
}
