internal import Synchronization

/// A count, and the tasks that wait for it to fall.
///
/// A fall that resumes nobody costs two atomic operations, however many tasks wait.
///
/// Invariant: `limit` is that of `waiters`, and is written under their lock. A waiter sets the limit
/// before the count is read for it, and a fall lowers the count before it reads the limit: one of the two
/// sees the other.
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
    if now <= limit.load(ordering: .sequentiallyConsistent) { update { _ in } }
  }

  /// Changes the list of its waiters, and resumes those that need not wait.
  ///
  /// Must not be called under a lock.
  func update(_ change: (inout WaitList) -> Void) {
    let fulfilled = waiters.withLock { waiters in
      change(&waiters)
      limit.store(waiters.limit, ordering: .sequentiallyConsistent)
      let fulfilled = waiters.takeFulfilled(at: value)
      limit.store(waiters.limit, ordering: .sequentiallyConsistent)
      return fulfilled
    }
    for waiter in fulfilled { waiter.resume(true) }
  }

  /// Whether a task waits.
  var isAwaited: Bool { limit.load(ordering: .sequentiallyConsistent) >= 0 }
}
