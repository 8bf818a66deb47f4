/// The waiters for one count to fall.
///
/// Invariant: `limit` is the highest count at which one of them may be resumed, or -1 if there is none.
struct WaitList: Sendable {
  /// The waiters that need the count to be zero.
  private var strict: [ObjectIdentifier: Waiter] = [:]
  /// The waiters that excuse handlers, in the order of arrival.
  private var excusing: [Waiter] = []
  private(set) var limit = -1

  var isEmpty: Bool { strict.isEmpty && excusing.isEmpty }

  /// Adds a waiter.
  ///
  /// - Complexity: O(1), amortised.
  mutating func add(_ waiter: Waiter) {
    if waiter.isStrict {
      strict[ObjectIdentifier(waiter)] = waiter
    } else {
      excusing.append(waiter)
    }
    limit = max(limit, waiter.limit)
  }

  /// Removes waiters, and reads the current limits of the others.
  ///
  /// - Complexity: O(1) for each strict one, and O(*k*) if *k* excusing ones are left.
  mutating func remove(_ waiters: some Sequence<Waiter>) {
    for waiter in waiters {
      if waiter.isStrict {
        strict[ObjectIdentifier(waiter)] = nil
      } else if let index = excusing.lastIndex(where: { $0 === waiter }) {
        // From the end: waiters that wait for each other are resumed in the opposite order.
        excusing.remove(at: index)
      }
    }
    limit = excusing.reduce(strict.isEmpty ? -1 : 0) { max($0, $1.limit) }
  }

  /// The waiters that may be resumed at a count.
  func candidates(at count: Int) -> [Waiter] {
    guard count <= limit else { return [] }
    let excused = excusing.filter { $0.limit >= count }
    return count <= 0 ? Array(strict.values) + excused : excused
  }
}
