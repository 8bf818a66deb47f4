@testable import Delegation

/// Holds tasks until it is opened; stays open.
final class Gate: Sendable {
  fileprivate struct State: Sendable {
    var isOpen = false
    var arrived = 0
    var inside: [CheckedContinuation<Void, Never>] = []
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  // The library's lock, because the thread sanitizer does not see that of `Synchronization`.
  private let state = Lock(State())

  /// Passes the gate, or waits until it opens, though the task be cancelled.
  func pass() async {
    await withCheckedContinuation { continuation in
      let resumed = state.withLock { state in
        state.arrived += 1
        var resumed = state.takeWatchers()
        if state.isOpen { resumed.append(continuation) } else { state.inside.append(continuation) }
        return resumed
      }
      for continuation in resumed { continuation.resume() }
    }
  }

  /// Arrives without waiting.
  func arrive() {
    let resumed = state.withLock { state in
      state.arrived += 1
      return state.takeWatchers()
    }
    for continuation in resumed { continuation.resume() }
  }

  /// Waiters until that many have arrived at the gate, those that passed included.
  func arrivals(_ count: Int = 1) async {
    await withCheckedContinuation { continuation in
      let resumed = state.withLock { state in
        state.watchers.append((count, continuation))
        return state.takeWatchers()
      }
      for continuation in resumed { continuation.resume() }
    }
  }

  /// How many have arrived so far.
  var arrived: Int { state.withLock { $0.arrived } }

  /// Lets all pass from now on.
  func open() {
    let resumed = state.withLock { state in
      state.isOpen = true
      defer { state.inside = [] }
      return state.inside
    }
    for continuation in resumed { continuation.resume() }
  }
}

extension Gate.State {
  fileprivate mutating func takeWatchers() -> [CheckedContinuation<Void, Never>] {
    let ready = watchers.filter { $0.count <= arrived }
    watchers.removeAll { $0.count <= arrived }
    return ready.map(\.continuation)
  }
}
