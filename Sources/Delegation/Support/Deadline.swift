/// A point in time by which a call has to return.
///
/// It counts from the call, however late whatever waits for it starts.
@usableFromInline
struct Deadline: Sendable {
  /// Whether there was no time at all.
  @usableFromInline
  let isPast: Bool
  private let arm: @Sendable (@escaping @Sendable () -> Void) -> Alarm

  /// A call's claim to be told of its deadline.
  @usableFromInline
  struct Alarm: Sendable {
    fileprivate let disarm: @Sendable () -> Void

    init(disarm: @escaping @Sendable () -> Void) {
      self.disarm = disarm
    }

    /// Gives up the claim, and releases the action.
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
  /// A deadline that counts from now; `nil` if it is too far away to come.
  func deadline(after duration: Duration) -> Deadline?

  /// How many actions wait for their deadline.
  ///
  /// For tests.
  var pending: Int { get }
}
