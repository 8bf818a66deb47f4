import Synchronization

/// A listener whose first handler does not return until a door opens.
final class HungListener: AsyncListener {
  private let door: Door

  /// Makes one.
  ///
  /// - Parameter door: what it waits at.
  init(door: Door) { self.door = door }

  func didPerform(_ request: Request) async { await door.pass() }
}

/// Holds up everybody until it is opened.
final class Door: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [UnsafeContinuation<Void, Never>] = []
    var expected: (count: Int, continuation: UnsafeContinuation<Void, Never>)?

    /// The task that waits for so many, if they are there.
    mutating func takeSatisfied() -> UnsafeContinuation<Void, Never>? {
      guard let expected, waiting.count >= expected.count else { return nil }
      self.expected = nil
      return expected.continuation
    }
  }

  private let state = Mutex(State())

  /// Returns when the door is open.
  func pass() async {
    await withUnsafeContinuation { continuation in
      let toResume = state.withLock { state -> UnsafeContinuation<Void, Never>? in
        if state.isOpen { return continuation }
        state.waiting.append(continuation)
        return state.takeSatisfied()
      }
      toResume?.resume()
    }
  }

  /// Returns when so many are waiting.
  ///
  /// - Parameter count: how many.
  func waitUntilWaiting(_ count: Int) async {
    await withUnsafeContinuation { continuation in
      let toResume = state.withLock { state in
        state.expected = (count, continuation)
        return state.takeSatisfied()
      }
      toResume?.resume()
    }
  }

  /// Lets everybody pass, now and later.
  func open() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      state.isOpen = true
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}
