import Delegation
import Synchronization

/// Who is told.
protocol Listener: AnyObject, Sendable {
  /// Learns of something, at once.
  func didHappen()
  /// Learns of something, and may take its time.
  func didHappenAtLeisure() async
}

/// Who is asked.
protocol Voter: AnyObject, Sendable {
  /// Answers whether something may be.
  ///
  /// - Parameter number: what.
  /// - Returns: whether it may.
  func allows(_ number: Int) async -> Bool
}

/// The cheapest of subscribers.
final class Member: Listener, Voter {
  private let heard = Atomic<Int>(0)
  private let forbidden: Int

  /// Makes one.
  ///
  /// - Parameter forbidden: what it denies.
  init(forbidding forbidden: Int = -1) { self.forbidden = forbidden }

  func didHappen() { heard.wrappingAdd(1, ordering: .relaxed) }

  func didHappenAtLeisure() async {
    await Task.yield()
    heard.wrappingAdd(1, ordering: .relaxed)
  }

  func allows(_ number: Int) async -> Bool { number != forbidden }
}

/// A subscriber with state of its own.
actor Official: Voter {
  private let forbidden: Int
  private var asked = 0

  /// Makes one.
  ///
  /// - Parameter forbidden: what it denies.
  init(forbidding forbidden: Int) { self.forbidden = forbidden }

  func allows(_ number: Int) -> Bool {
    asked += 1
    return number != forbidden
  }
}

/// A hub and those who have subscribed to it, whom it does not keep alive.
struct Audience: Sendable {
  /// The hub.
  let hub = DelegateHub()
  /// Its subscribers.
  let members: [any Sendable]

  /// Makes listeners.
  ///
  /// - Parameter count: how many.
  /// - Returns: them and their hub.
  static func listeners(_ count: Int) -> Audience {
    let members = (0..<count).map { _ in Member() }
    let audience = Audience(members: members)
    for member in members { audience.hub.subscribe(member, to: (any Listener).self) }
    return audience
  }

  /// Makes voters, each of whom denies its own index.
  ///
  /// - Parameters:
  ///   - count: how many.
  ///   - make: makes one.
  /// - Returns: them and their hub.
  static func voters(_ count: Int, _ make: (Int) -> any Voter) -> Audience {
    let members = (0..<count).map(make)
    let audience = Audience(members: members)
    for member in members { audience.hub.subscribe(member, to: (any Voter).self) }
    return audience
  }
}

/// The sizes at which everything is measured.
let sizes = [1, 10, 100, 1000]
