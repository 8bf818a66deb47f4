import Synchronization

/// A number that anybody may add to.
final class Count: Sendable {
  private let number = Atomic<Int>(0)

  /// The sum so far.
  var value: Int { number.load(ordering: .acquiring) }

  /// Adds to it.
  ///
  /// - Parameter amount: how much.
  func add(_ amount: Int) { number.wrappingAdd(amount, ordering: .acquiringAndReleasing) }
}
