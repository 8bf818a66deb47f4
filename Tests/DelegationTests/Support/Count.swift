import Synchronization

/// A number that threads count up.
final class Count: Sendable {
  private let count = Atomic<Int>(0)

  var value: Int { count.load(ordering: .sequentiallyConsistent) }

  func add(_ number: Int) { count.wrappingAdd(number, ordering: .sequentiallyConsistent) }
}
