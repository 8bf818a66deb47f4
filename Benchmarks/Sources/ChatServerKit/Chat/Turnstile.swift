import Synchronization

/// Counts who is inside, lets nobody in once it is closed, and tells when the last one has left.
///
/// A hub knows of the votes and notifications that it carries, not of somebody between the one and the
/// other. Who says something passes here, so that nothing is posted after the hubs have been drained.
final class Turnstile: Sendable {
  private struct State {
    var inside = 0
    var isClosed = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// Whether one may pass; who may has to leave.
  func enter() -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.inside += 1
      return true
    }
  }

  func leave() {
    let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.inside -= 1
      guard state.isClosed, state.inside == 0 else { return [] }
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Lets nobody in any more and waits for those inside.
  func close() async {
    await withCheckedContinuation { continuation in
      let isEmpty = state.withLock { state in
        state.isClosed = true
        if state.inside > 0 { state.waiting.append(continuation) }
        return state.inside == 0
      }
      if isEmpty { continuation.resume() }
    }
  }
}
