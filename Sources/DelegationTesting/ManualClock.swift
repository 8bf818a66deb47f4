/// A clock that stands still until it is advanced.
///
/// As `DelegateHub.Configuration.clock` it lets a deadline of an hour be tested in no time:
///
/// ```swift
/// clock.advance(by: .seconds(3600))
/// ```
///
/// Sleepers are woken in the order of their deadlines. With equal deadlines, the one that went to
/// sleep first is woken first. A cancelled sleep ends with a `CancellationError` and leaves nothing
/// behind.
///
/// **Isolation.** You may call every method from any thread. To advance the clock wakes the
/// sleepers. Their tasks continue on their own executors; with a ``ManualExecutor``, only when it
/// is told to run.
public final class ManualClock: Clock {
  /// A point in time, as its distance from the clock's beginning.
  public struct Instant: InstantProtocol, CustomStringConvertible {
    /// The distance from the beginning.
    public var offset: Duration

    /// Makes a point of time.
    ///
    /// - Parameter offset: the distance from the beginning.
    public init(offset: Duration = .zero) {
      self.offset = offset
    }

    /// The point in time that is later by a duration.
    ///
    /// - Parameter duration: how much later.
    /// - Returns: the later point of time.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// The distance to another point of time.
    ///
    /// - Parameter other: the other point.
    /// - Returns: the distance, which is negative if the other one is earlier.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Whether a point of time is earlier than another.
    public static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.offset < rhs.offset }

    /// The distance from the beginning, in words.
    public var description: String { "\(offset)" }
  }

  private struct State: Watched {
    var now = Instant()
    var sleepers = SleepQueue<CheckedContinuation<Void, any Error>>()
    var watchers = Watchers<Void>()
    /// Whether all sleepers have been woken, and no task may sleep any more.
    var isClosed = false
    var reached: Int { sleepers.count }
    var report: Void { () }
  }

  private let state = Guarded(State())

  /// Makes a clock that stands at its beginning.
  public init() {}

  /// What the clock shows.
  public var now: Instant { state.withLock { $0.now } }

  /// The clock is exact.
  public var minimumResolution: Duration { .zero }

  /// How many tasks sleep by the clock.
  public var sleepers: Int { state.withLock { $0.sleepers.count } }

  /// The deadlines of the sleepers, the earliest first.
  ///
  /// - Complexity: O(*n* log *n*) in the *n* sleepers.
  public var deadlines: [Instant] { state.withLock { $0.sleepers.deadlines } }

  /// The earliest deadline of the sleepers; `nil` if no task sleeps.
  public var nextDeadline: Instant? { state.withLock { $0.sleepers.nextDeadline } }

  // MARK: Sleeping

  /// Sleeps until the clock shows a point of time.
  ///
  /// Without a need to sleep, the task still yields once, and goes on with its executor's next job. So a limit of steps
  /// also ends a loop around a sleep that ends at once.
  ///
  /// **Cancellation.** If the task is cancelled, the sleep ends.
  ///
  /// **Errors.** A `CancellationError` if the task is cancelled.
  ///
  /// - Parameters:
  ///   - deadline: when to wake; if that is past, the task does not sleep.
  ///   - tolerance: has no meaning here.
  /// - Throws: `CancellationError`.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    let isShort = Task.isCancelled || state.withLock { $0.isClosed || deadline <= $0.now }
    // Otherwise a loop around this sleep would be one job without an end, which no limit of steps interrupts.
    if isShort { await Task.yield() }
    try Task.checkCancellation()
    let ticket = state.withLock { $0.sleepers.makeTicket() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (isAsleep, isOver, ready) = state.withLock { state in
          // A cancelled task is not seen to sleep: its sleep ended before it began.
          let isOver = state.isClosed || Task.isCancelled
          if isOver || deadline <= state.now {
            return (false, isOver, [CheckedContinuation<Void, Never>]())
          }
          state.sleepers.add(continuation, until: deadline, ticket: ticket)
          return (true, false, state.watchers.removeAll(reaching: state.sleepers.count))
        }
        for watcher in ready { watcher.resume() }
        guard isAsleep else {
          return isOver
            ? continuation.resume(throwing: CancellationError()) : continuation.resume()
        }
        // The handler below may have run before the sleeper was added.
        if Task.isCancelled { cancelSleep(ticket) }
      }
    } onCancel: {
      cancelSleep(ticket)
    }
  }

  private func cancelSleep(_ ticket: Int) {
    state.withLock { $0.sleepers.remove(ticket) }?.resume(throwing: CancellationError())
  }

  /// Waits until that many tasks sleep at the same time.
  ///
  /// For tests of code that runs on threads of its own: if the clock advances before the code has gone to sleep, it
  /// wakes nothing. With a ``ManualExecutor`` you do not need this.
  ///
  /// For each deadline of a hub's calls a task sleeps until the call has returned. So `waitForSleepers(2)` waits for
  /// the second of two deadlines. One more task sleeps while the hub's `slowAfter` watches handlers, and for up to that
  /// long after.
  ///
  /// ```swift
  /// let doors = hub[DoorDelegate.self]
  /// async let alice = doors.vote(within: .seconds(5), absent: .counts(as: false)) {
  ///   await $0.mayEnter("Alice")
  /// }
  /// async let bob = doors.vote(within: .seconds(10), absent: .counts(as: false)) {
  ///   await $0.mayEnter("Bob")
  /// }
  /// await clock.waitForSleepers(2)
  /// clock.advance(by: .seconds(5))
  /// #expect(await !alice)
  /// ```
  ///
  /// **Cancellation.** If the task is cancelled, it returns at once.
  ///
  /// - Parameter count: how many tasks.
  public func waitForSleepers(_ count: Int = 1) async {
    await state.wait(until: count)
  }

  // MARK: Advancing

  /// Lets time pass, and wakes the sleepers whose deadlines it reaches.
  ///
  /// - Parameter duration: how much. A negative duration puts the clock back, which no clock should do and some do, and
  ///   wakes nothing.
  public func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      return state.sleepers.removeAll(until: state.now)
    }
    for continuation in due { continuation.resume() }
  }

  /// Lets time pass up to a point, and wakes the sleepers whose deadlines it reaches.
  ///
  /// - Parameter instant: the point; if the clock shows that or a later one, nothing happens.
  public func advance(to instant: Instant) {
    let due = state.withLock { state in
      state.now = max(state.now, instant)
      return state.sleepers.removeAll(until: state.now)
    }
    for continuation in due { continuation.resume() }
  }

  /// Lets time pass up to the next deadline, if a task sleeps.
  ///
  /// - Returns: whether a task was woken.
  @discardableResult
  public func advanceToNextDeadline() -> Bool {
    let due = state.withLock { state in
      guard let next = state.sleepers.nextDeadline else {
        return [CheckedContinuation<Void, any Error>]()
      }
      state.now = next
      return state.sleepers.removeAll(until: next)
    }
    for continuation in due { continuation.resume() }
    return !due.isEmpty
  }

  /// Wakes all sleepers as if they were cancelled, and lets no task sleep any more.
  func close() {
    let sleepers = state.withLock { state in
      state.isClosed = true
      return state.sleepers.removeAll()
    }
    for continuation in sleepers { continuation.resume(throwing: CancellationError()) }
  }
}
