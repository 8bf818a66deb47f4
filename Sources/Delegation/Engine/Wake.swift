internal import Synchronization

/// The task that has the hub's actor look at what has happened: one at a time is asked for.
///
/// It is asked for under the inbox's lock, and sent outside of it by whoever can: it is *claimed* by
/// somebody who holds the hub and starts the task. Others who find it asked for and not claimed try as
/// well: the one who asked may have no hub to send it for, or not have got round to it.
///
/// Invariant: it is counted in the hub's activity from `asked` on, until its task has counted itself off,
/// or, if it never was claimed, until ``close()``.
struct Wake: ~Copyable, Sendable {
  private enum Stage {
    static let none: UInt8 = 0
    static let asked: UInt8 = 1
    static let claimed: UInt8 = 2
    static let closed: UInt8 = 3
  }

  private let stage = Atomic<UInt8>(Stage.none)

  /// Asks for a wake, unless one is on its way or the hub is gone.
  ///
  /// Called under the inbox's lock.
  ///
  /// - Returns: whether it was asked for, so that it has to be counted.
  func ask() -> Bool { exchange(Stage.none, Stage.asked) }

  /// Whether one is asked for that nobody has claimed.
  var isDue: Bool { stage.load(ordering: .acquiring) == Stage.asked }

  /// Takes it on to start the task.
  ///
  /// For those who hold the hub.
  ///
  /// - Returns: whether the task is the caller's to start.
  func claim() -> Bool { exchange(Stage.asked, Stage.claimed) }

  /// Notes that the task takes what it was to be told.
  ///
  /// Called under the inbox's lock, so that what is said from then on asks anew.
  func answer() {
    if !exchange(Stage.claimed, Stage.none) { _ = exchange(Stage.asked, Stage.none) }
  }

  /// Lets no more be asked for, when the hub is released.
  ///
  /// - Returns: whether one was asked for that nobody has claimed, and which is to be counted off.
  func close() -> Bool {
    stage.exchange(Stage.closed, ordering: .acquiringAndReleasing) == Stage.asked
  }

  private func exchange(_ expected: UInt8, _ desired: UInt8) -> Bool {
    stage.compareExchange(
      expected: expected, desired: desired, ordering: .acquiringAndReleasing
    ).exchanged
  }
}
