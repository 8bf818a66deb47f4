import Synchronization

/// What the program itself has counted, to be held against the hub's statistics.
final class Tally: Sendable {
  /// What is counted.
  enum Item: Int, CaseIterable {
    case postedByProducers, postedByHandlers, handled, failed
    /// Failed notifications that the hub reported, and incidents of any kind that it left out.
    case reported, leftOut
    case voted, votedLate, failedVotes, asked, delivered
    case came, left, died, replaced, changed
  }

  private final class Counter: Sendable {
    let count = Atomic<Int>(0)
  }

  private let counters = Item.allCases.map { _ in Counter() }

  /// Counts one, or some.
  ///
  /// - Parameters:
  ///   - item: what.
  ///   - number: how many.
  func count(_ item: Item, _ number: Int = 1) {
    counters[item.rawValue].count.wrappingAdd(number, ordering: .relaxed)
  }

  /// How many there have been.
  subscript(item: Item) -> Int { counters[item.rawValue].count.load(ordering: .acquiring) }

  /// All notifications posted.
  var posted: Int { self[.postedByProducers] + self[.postedByHandlers] }
}
