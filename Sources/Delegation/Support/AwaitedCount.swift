internal import Synchronization

/// A count, and the tasks that wait for it to fall.
///
/// A fall that resumes nobody costs two atomic operations, however many tasks wait.
///
/// Invariant: `limit` is that of `waiters`, and is written under their lock. A waiter sets its limit
/// before it reads the count, and a fall lowers the count before it reads the limit: one of the two sees
/// the other.
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

  /// Lowers the count by one, and resumes the waiters that waited for that.
  ///
  /// Must not be called under a lock.
  func fall() {
    let now = count.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue
    if now <= limit.load(ordering: .sequentiallyConsistent) { resumeFulfilled() }
  }

  /// Adds a waiter, and resumes it at once if it need not wait.
  func add(_ waiter: Waiter) {
    update { $0.add(waiter) }
    _ = waiter.tryFulfil { value }
  }

  /// Removes a waiter that has been resumed.
  func remove(_ waiter: Waiter) {
    update { $0.remove(waiter) }
  }

  /// Resumes the waiters that need not wait any more now that what they excuse has changed.
  ///
  /// Must not be called under a lock.
  func reconsider() {
    update { $0.reconsider() }
    resumeFulfilled()
  }

  /// Whether a task waits.
  var isAwaited: Bool { limit.load(ordering: .sequentiallyConsistent) >= 0 }

  private func update(_ change: (inout WaitList) -> Void) {
    waiters.withLock { waiters in
      change(&waiters)
      limit.store(waiters.limit, ordering: .sequentiallyConsistent)
    }
  }

  private func resumeFulfilled() {
    let candidates = waiters.withLock { $0.candidates(at: value) }
    for candidate in candidates { _ = candidate.tryFulfil { value } }
    update { $0.settle(candidates) }
  }
}
