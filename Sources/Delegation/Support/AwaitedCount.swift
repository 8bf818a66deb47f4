internal import Synchronization

/// A count, and those who wait for it to fall.
///
/// A fall costs two atomic operations as long as nobody can go on by it, however many wait.
///
/// Invariant: `limit` is that of `waiters`, and written under their lock. A waiter's limit is set before
/// it looks at the count, and the count falls before the limit is looked at: one of the two sees the
/// other.
struct AwaitedCount: ~Copyable, Sendable {
  private let count: Atomic<Int>
  private let limit = Atomic<Int>(-1)
  private let waiters = Lock(WaitList())

  init(_ count: Int = 0) {
    self.count = Atomic(count)
  }

  var value: Int { count.load(ordering: .sequentiallyConsistent) }

  func rise(by amount: Int = 1) {
    count.wrappingAdd(amount, ordering: .sequentiallyConsistent)
  }

  /// Counts one off, and lets those go on who waited for that.
  ///
  /// Must not be called under a lock.
  func fall() {
    let now = count.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue
    if now <= limit.load(ordering: .sequentiallyConsistent) { resumeFulfilled() }
  }

  /// Adds a waiter, which goes on at once if it need not wait.
  func add(_ waiter: Waiter) {
    update { $0.add(waiter) }
    _ = waiter.tryFulfil { value }
  }

  /// Removes a waiter that has gone on.
  func remove(_ waiter: Waiter) {
    update { $0.remove(CollectionOfOne(waiter)) }
  }

  /// Whether anybody waits.
  var isAwaited: Bool { limit.load(ordering: .sequentiallyConsistent) >= 0 }

  private func update(_ change: (inout WaitList) -> Void) {
    waiters.withLock { waiters in
      change(&waiters)
      limit.store(waiters.limit, ordering: .sequentiallyConsistent)
    }
  }

  private func resumeFulfilled() {
    let fulfilled = waiters.withLock { $0.candidates(at: value) }
      .filter { $0.tryFulfil { value } }
    // Also if there are none: a candidate that could not go on has a lower limit now.
    update { $0.remove(fulfilled) }
  }
}
