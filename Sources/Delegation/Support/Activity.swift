internal import Synchronization

/// How many workers a hub has, including those that were requested and have not started.
///
/// Invariant: while a notification is pending or a handler runs, at least one worker is counted. A worker
/// is counted from the moment it is requested. A subscription that waits in the lane of its own executor is
/// counted in place of a worker there: it may be ended while the executor stands still. A question that is sent
/// there stays counted.
@usableFromInline
final class Activity: Sendable {
  let workers = AwaitedCount()
  /// The hub's deadlines, for those who wait without the hub; `nil` only in tests.
  let deadlines: DeadlineQueue?
  /// How many of these are not workers but the user's own closures, which delay a drain.
  let delays = Atomic<Int>(0)

  init(_ deadlines: DeadlineQueue? = nil) {
    self.deadlines = deadlines
  }

  /// Counts a worker.
  func begin() {
    workers.rise()
  }

  /// Counts a worker off, and resumes the tasks that wait for the hub to become idle.
  ///
  /// Must not be called under a lock.
  func end() {
    workers.fall()
  }
}
