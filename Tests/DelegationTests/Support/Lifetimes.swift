import Synchronization

/// Counts the objects that it made and that are alive.
final class Lifetimes: Sendable {
  /// An object that is counted.
  final class Tracked: Sendable, Hashable {
    private let count: Count

    fileprivate init(_ count: Count) {
      self.count = count
      count.alive.wrappingAdd(1, ordering: .relaxed)
    }

    deinit {
      count.alive.wrappingSubtract(1, ordering: .relaxed)
    }

    static func == (lhs: Tracked, rhs: Tracked) -> Bool { lhs === rhs }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  fileprivate final class Count: Sendable {
    let alive = Atomic<Int>(0)
  }

  private let count = Count()

  func make() -> Tracked { Tracked(count) }

  var alive: Int { count.alive.load(ordering: .relaxed) }
}
