internal import Synchronization

/// How many workers a hub has, those on their way included.
///
/// Invariant: while a notification waits or a handler runs, at least one worker is counted. A worker is
/// counted from the moment it is asked for.
@usableFromInline
final class Activity: Sendable {
  let workers = AwaitedCount()
  /// How many handlers have returned, or gone on, while waits that might excuse them were not over.
  ///
  /// By it the waits notice that what they have counted may be out of date.
  let returns = Atomic<Int>(0)
  /// How many of these are no workers but the user's own, which delay a drain.
  let delays = Atomic<Int>(0)

  /// Counts a worker.
  func begin() {
    workers.rise()
  }

  /// Counts a worker off, and lets those go on who waited for the hub to come to rest.
  ///
  /// Must not be called under a lock.
  func end() {
    workers.fall()
  }
}
