/// The deadlines of one hub, and the tasks that sleep until the next of them.
///
/// A cancelled sleep keeps its memory until its time has come, because the runtime's timers cannot be
/// removed. So calls share one sleeper: it is not cancelled when a call returns in time, and for an earlier
/// deadline a second one starts beside it, which ends when it has woken. Sleepers do not keep the queue, whose
/// `deinit` cancels them: a clock that nobody advances any more would keep them for good. By a test's clock each
/// deadline has a sleeper of its own, so that the test sees the deadlines.
///
/// Its tasks have high priority: a caller of high priority must not wait for all work of medium priority.
/// Most of what they do is short.
@usableFromInline
final class DeadlineQueue: Sendable {
  /// The time by the clock since the queue was made.
  let now: @Sendable () -> Duration
  /// Sleeps until a time.
  private let sleep: @Sendable (Duration) async -> Void
  private let executor: (any TaskExecutor)?
  private let alarms: Lock<Alarms>

  /// - Parameters:
  ///   - clock: the clock of the deadlines.
  ///   - executor: where the sleepers and the actions run.
  ///   - sharesSleepers: whether one sleeper serves several deadlines.
  init(
    clock: some Clock<Duration>, executor: (any TaskExecutor)?,
    sharingSleepers sharesSleepers: Bool = true
  ) {
    let start = clock.now
    now = { start.duration(to: clock.now) }
    // It throws when the queue has cancelled it. A clock that throws otherwise ends the sleep early.
    sleep = { try? await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    self.executor = executor
    alarms = Lock(Alarms(sharingSleepers: sharesSleepers))
  }

  deinit {
    for sleeper in alarms.withLock({ $0.sleepers }) { sleeper.task?.cancel() }
  }

  /// A deadline that counts from now; `nil` if it is too far away ever to come.
  @usableFromInline
  func deadline(after duration: Duration) -> Deadline? {
    if duration >= Deadline.farthest { return nil }
    let start = now()
    return Deadline(isPast: duration <= .zero, start: start, time: start + duration, queue: self)
  }

  /// How many scheduled actions are pending.
  ///
  /// For tests.
  var pending: Int { alarms.withLock { $0.pending } }

  /// Starts an action in a task of its own: it runs user code, and may block.
  func start(_ action: @escaping @Sendable () -> Void) {
    Task.startDetached(on: executor, priority: .high) { action() }
  }

  /// Runs an action at a time, in a task of its own, unless it is cancelled before.
  ///
  /// - Returns: what cancels and releases the action.
  func schedule(
    _ action: @escaping @Sendable () -> Void, at time: Duration
  ) -> @Sendable () -> Void {
    let (number, needsSleeper) = alarms.withLock { $0.add(action, at: time) }
    if needsSleeper { startSleeper(number, until: time) }
    return {
      // Cancelled and released outside the lock.
      let (action, sleeper) = self.alarms.withLock { $0.cancel(number) }
      sleeper?.cancel()
      withExtendedLifetime(action) {}
    }
  }

  private func startSleeper(_ number: Int, until first: Duration) {
    let task = Task.startDetached(on: executor, priority: .high) { [weak self, sleep] in
      var next: Duration? = first
      while let time = next {
        await sleep(time)
        guard let self else { return }
        let now = now()
        let woken = alarms.withLock { $0.wake(number, now: now) }
        for action in woken.due { start(action) }
        next = woken.next
      }
    }
    alarms.withLock { $0.setTask(task, of: number) }
  }
}

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
  /// When it was set, by the queue's time.
  let start: Duration
  /// When it comes, by the queue's time.
  let time: Duration
  let queue: DeadlineQueue

  /// Whether it has come.
  @usableFromInline
  var hasCome: Bool { isPast || queue.now() >= time }

  /// Runs an action at the deadline, in a task of its own, unless it is cancelled before.
  ///
  /// - Returns: what cancels and releases the action.
  func schedule(_ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    if !isPast { return queue.schedule(action, at: time) }
    queue.start(action)
    return {}
  }
}
