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

/// A protocol to which values could conform as well.
protocol Guest: Sendable {
  func didPass(_ number: Int)
}

final class Member: Listener, Narrower, Bystander, Guest {
  func mayPass(_ number: Int) async -> Bool { number > 0 }
  func weigh(_ number: Int) async -> Int { number }
  func find(_ number: Int) async -> Int? { nil }
  func maySit(_ number: Int) -> Bool { number > 0 }
  func measure(_ number: Int) -> Int { number }
  func didPass(_ number: Int) {}
}

/// Holds up tasks until it is opened.
final class Gate: Sendable {
  private let (stream, continuation) = AsyncStream<Void>.makeStream()
  private let arrived = Atomic(0)

  func pass() async {
    arrived.wrappingAdd(1, ordering: .relaxed)
    for await _ in stream {}
  }

  /// Lets all go on that have come or will come.
  func open() { continuation.finish() }

  /// Waits until that many have come.
  func waitForArrivals(_ count: Int) async {
    while arrived.load(ordering: .relaxed) < count { await Task.yield() }
  }
}
