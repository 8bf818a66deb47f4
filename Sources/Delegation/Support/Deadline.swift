/// A point in time by which a call has to return.
///
/// It counts from the call, even if the task that waits for it starts late.
@usableFromInline
struct Deadline: Sendable {
  /// A deadline that is farther away never comes: a clock might not be able to represent it.
  static var farthest: Duration { .seconds(1 << 32) }

  /// Whether the duration was zero, or less.
  @usableFromInline
  let isPast: Bool
  /// Whether it has come.
  let hasCome: @Sendable () -> Bool
  /// Runs an action at the deadline, in a task of its own, unless it is cancelled before.
  ///
  /// The closure that it returns cancels and releases the action.
  @usableFromInline
  let schedule: @Sendable (_ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void

  /// Whichever comes first of this one and another one; both run the action if both come.
  func orEarlier(_ other: Deadline) -> Deadline {
    Deadline(
      isPast: isPast || other.isPast, hasCome: { self.hasCome() || other.hasCome() }
    ) { action in
      let (cancelThis, cancelOther) = (self.schedule(action), other.schedule(action))
      return {
        cancelThis()
        cancelOther()
      }
    }
  }
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
