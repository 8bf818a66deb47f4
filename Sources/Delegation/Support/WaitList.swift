/// Those who wait for one count to fall.
///
/// Invariant: `limit` is the highest count at which one of them may go on, or -1 if there is none.
struct WaitList: Sendable {
  /// Those that wait for the count to be zero.
  private var strict: [ObjectIdentifier: Waiter] = [:]
  /// Those that excuse handlers, in the order in which they came.
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

  /// Removes waiters, and learns what limits the others have by now.
  ///
  /// - Complexity: O(1) for each strict one, and O(*k*) if *k* others are left.
  mutating func remove(_ waiters: some Sequence<Waiter>) {
    for waiter in waiters {
      if waiter.isStrict {
        strict[ObjectIdentifier(waiter)] = nil
      } else if let index = excusing.lastIndex(where: { $0 === waiter }) {
        // From the end: those that wait for each other go on in the opposite order.
        excusing.remove(at: index)
      }
    }
    limit = excusing.reduce(strict.isEmpty ? -1 : 0) { max($0, $1.limit) }
  }

  /// Those who may go on at a count.
  func candidates(at count: Int) -> [Waiter] {
    guard count <= limit else { return [] }
    let excused = excusing.filter { $0.limit >= count }
    return count <= 0 ? Array(strict.values) + excused : excused
  }
}
