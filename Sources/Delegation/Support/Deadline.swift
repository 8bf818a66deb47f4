/// A point in time by which a call has to return.
///
/// It counts from the call, even if the task that waits for it starts late.
@usableFromInline
struct Deadline: Sendable {
  /// A deadline that is farther away never comes: a clock might not be able to represent it.
  static var farthest: Duration { .seconds(1 << 32) }

  /// Whether the duration was zero.
  @usableFromInline
  let isPast: Bool
  private let arm: @Sendable (@escaping @Sendable () -> Void) -> Alarm

  /// An action that is scheduled for a deadline.
  @usableFromInline
  struct Alarm: Sendable {
    fileprivate let disarm: @Sendable () -> Void

    init(disarm: @escaping @Sendable () -> Void) {
      self.disarm = disarm
    }

    /// Cancels and releases the action.
    @usableFromInline
    func cancel() { disarm() }
  }

  init(isPast: Bool, arm: @escaping @Sendable (@escaping @Sendable () -> Void) -> Alarm) {
    self.isPast = isPast
    self.arm = arm
  }

  /// Runs an action at the deadline, in a task of its own, unless the alarm is cancelled before.
  @usableFromInline
  func schedule(_ action: @escaping @Sendable () -> Void) -> Alarm { arm(action) }
}

/// Makes a hub's deadlines.
@usableFromInline
protocol DeadlineSource: Sendable {
  /// A deadline that counts from now; `nil` if it is too far away ever to come.
  func deadline(after duration: Duration) -> Deadline?

  /// How many scheduled actions are pending.
  ///
  /// For tests.
  var pending: Int { get }
}
