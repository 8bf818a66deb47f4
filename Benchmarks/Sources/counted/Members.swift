import Delegation
import Synchronization

protocol Listener: AnyObject, Sendable {
  func mayPass(_ number: Int) async -> Bool
  func weigh(_ number: Int) async -> Int
  func find(_ number: Int) async -> Int?
  func maySit(_ number: Int) -> Bool
  func measure(_ number: Int) -> Int
  func didPass(_ number: Int)
}

/// Optional beside `Listener`.
protocol Narrower: AnyObject, Sendable {}

/// What others subscribe to.
protocol Bystander: AnyObject, Sendable {}

final class Member: Listener, Narrower, Bystander {
  func mayPass(_ number: Int) async -> Bool { number > 0 }
  func weigh(_ number: Int) async -> Int { number }
  func find(_ number: Int) async -> Int? { nil }
  func maySit(_ number: Int) -> Bool { number > 0 }
  func measure(_ number: Int) -> Int { number }
  func didPass(_ number: Int) {}
}

/// Holds up tasks until it is opened.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    var arrived = 0
  }

  private let state = Mutex(State())

  func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        state.arrived += 1
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  /// Lets all go on that have come or will come.
  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Waits until that many have come.
  func waitForArrivals(_ count: Int) async {
    while state.withLock({ $0.arrived }) < count { await Task.yield() }
  }
}
