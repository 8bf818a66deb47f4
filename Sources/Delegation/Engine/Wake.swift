internal import Synchronization

/// The task in which the hub's actor takes the inbox's updates; one at a time is requested.
///
/// It is requested under the inbox's lock, and sent outside of it: a thread that has a reference to the
/// hub *claims* it and starts the task. Every thread that finds it requested and not claimed tries that,
/// because the one that requested it may have no hub any more, or may not have got to it yet.
///
/// Invariant: it is counted in the hub's activity from `asked` on, until its task has counted itself off,
/// or, if it was never claimed, until ``close()``.
struct Wake: ~Copyable, Sendable {
  private enum Stage {
    static let none: UInt8 = 0
    static let asked: UInt8 = 1
    static let claimed: UInt8 = 2
    static let closed: UInt8 = 3
  }

  private let stage = Atomic<UInt8>(Stage.none)
  /// The highest priority of those who wait for what its task is to deliver; 0 if nobody does.
  private let raised = Atomic<UInt8>(0)

  /// The priority of its task; `nil` for the default.
  var priority: TaskPriority? {
    let raised = raised.load(ordering: .relaxed)
    return raised == 0 ? nil : TaskPriority(rawValue: raised)
  }

  /// Raises the priority of its task, unless that has been started.
  ///
  /// Called before the notification is posted, not under the inbox's lock, where it would make every post dearer.
  /// A wake that is answered in between takes it along, as one does that has been started.
  func raise(to priority: TaskPriority) {
    raised.max(priority.rawValue, ordering: .relaxed)
  }

  /// Requests a wake, unless one has been requested or the hub is released.
  ///
  /// Called under the inbox's lock.
  ///
  /// - Returns: whether it was requested now, so that it has to be counted.
  func ask() -> Bool { exchange(Stage.none, Stage.asked) }

  /// Whether one has been requested and not claimed.
  var isDue: Bool { stage.load(ordering: .acquiring) == Stage.asked }

  /// Claims the wake.
  ///
  /// For code that has a reference to the hub.
  ///
  /// - Returns: whether the caller has to start the task.
  func claim() -> Bool { exchange(Stage.asked, Stage.claimed) }

  /// Notes that the task takes the pending work.
  ///
  /// Called under the inbox's lock, so that later changes request another wake.
  func answer() {
    raised.store(0, ordering: .relaxed)
    if !exchange(Stage.claimed, Stage.none) { _ = exchange(Stage.asked, Stage.none) }
  }

  /// Lets no more wakes be requested, when the hub is released.
  ///
  /// - Returns: whether one was requested and not claimed, which has to be counted off.
  func close() -> Bool {
    stage.exchange(Stage.closed, ordering: .acquiringAndReleasing) == Stage.asked
  }

  private func exchange(_ expected: UInt8, _ desired: UInt8) -> Bool {
    stage.compareExchange(
      expected: expected, desired: desired, ordering: .acquiringAndReleasing
    ).exchanged
  }
}
