@testable import Delegation

/// A number of places, of which tests take some each, in the order in which they come.
///
/// Whoever comes is behind those who wait, even if there are places enough for it: a test that needs
/// many is not passed over for ever.
final class Places: Sendable {
  private struct State: Sendable {
    /// How many are free; fewer than the first of those who wait needs.
    var free: Int
    var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    /// Seats those who come next, as many as there are places for.
    mutating func seat() -> [CheckedContinuation<Void, Never>] {
      var seated: [CheckedContinuation<Void, Never>] = []
      while let first = waiting.first, first.count <= free {
        free -= first.count
        seated.append(first.continuation)
        waiting.removeFirst()
      }
      return seated
    }
  }

  private let count: Int
  private let state: Lock<State>

  init(_ count: Int) {
    self.count = count
    state = Lock(State(free: count))
  }

  /// Does something in some of the places, once they are free.
  ///
  /// - Parameters:
  ///   - wanted: how many; all of them, if there are not that many.
  ///   - body: what to do.
  func take(_ wanted: Int, _ body: () async throws -> Void) async rethrows {
    let taken = min(wanted, count)
    await withCheckedContinuation { continuation in
      resume(
        state.withLock { state in
          state.waiting.append((taken, continuation))
          return state.seat()
        })
    }
    defer {
      resume(
        state.withLock { state in
          state.free += taken
          return state.seat()
        })
    }
    try await body()
  }

  private func resume(_ continuations: [CheckedContinuation<Void, Never>]) {
    for continuation in continuations { continuation.resume() }
  }
}
