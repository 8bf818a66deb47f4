/// The waiters for one count to fall.
///
/// Invariant: the limit of a waiter is no lower than the number of handlers that it excuses.
struct WaitList: Sendable {
  private var waiters: [(waiter: Waiter, limit: Int)] = []

  /// The highest count at which one of them may be resumed; -1 if there is none.
  private(set) var limit = -1

  var isEmpty: Bool { waiters.isEmpty }

  mutating func add(_ waiter: Waiter) {
    let excused = waiter.countExcused()
    waiters.append((waiter, excused))
    limit = max(limit, excused)
  }

  /// Removes a waiter, if it is there.
  ///
  /// - Complexity: O(*n*) in the number of waiters.
  mutating func remove(_ waiter: Waiter) {
    waiters.removeAll { $0.waiter === waiter }
    updateLimit()
  }

  /// Has what each excuses counted anew when the list is next looked at.
  ///
  /// Else that only becomes fewer: the excused handlers are chosen when the wait begins, and after that they end.
  mutating func reconsider() {
    for index in waiters.indices { waiters[index].limit = .max }
    updateLimit()
  }

  /// Takes out the waiters that need not wait at a count.
  ///
  /// The count has been read before the excused handlers are counted. A handler that ends in between is still
  /// in the count and no longer excused, which errs towards waiting; its end checks again.
  ///
  /// - Complexity: O(1) if the count is above the limit, else O(*n*) in the number of waiters.
  mutating func takeFulfilled(at count: Int) -> [Waiter] {
    guard count <= limit else { return [] }
    for index in waiters.indices where count <= waiters[index].limit {
      waiters[index].limit = waiters[index].waiter.countExcused()
    }
    let first = waiters.partition { count <= $0.limit }
    let fulfilled = waiters[first...].map(\.waiter)
    waiters.removeSubrange(first...)
    updateLimit()
    return fulfilled
  }

  private mutating func updateLimit() {
    limit = waiters.lazy.map(\.limit).max() ?? -1
  }
}
