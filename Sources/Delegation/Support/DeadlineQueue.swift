/// The deadlines of one hub, and the task that sleeps until the next of them.
///
/// A cancelled sleep keeps its memory until its time has come, because the runtime's timers cannot be
/// removed. So calls share one sleeper: it is not cancelled when a call returns in time, and a second one
/// starts only for an earlier deadline. Sleepers do not keep the queue, whose `deinit` cancels them: a
/// clock that nobody advances any more would keep them for good.
///
/// Its tasks have high priority: a caller of high priority must not wait for all work of medium priority.
/// Most of what they do is short.
final class DeadlineQueue<C: Clock>: DeadlineSource where C.Duration == Duration {
  private let clock: C
  private let executor: (any TaskExecutor)?
  private let alarms = Lock(Alarms<C.Instant>())
  /// The sleepers that have not ended, by number; `nil` for one whose task is about to be started.
  private let sleepers = Lock((last: 0, tasks: [Int: Task<Void, Never>?]()))

  /// - Parameters:
  ///   - clock: the clock of the deadlines.
  ///   - executor: where the sleeper and the actions run.
  init(clock: C, executor: (any TaskExecutor)?) {
    self.clock = clock
    self.executor = executor
  }

  deinit {
    let tasks = sleepers.withLock { $0.tasks }
    for task in tasks.values { task?.cancel() }
  }

  func deadline(after duration: Duration) -> Deadline? {
    if duration >= Deadline.farthest { return nil }
    guard duration > .zero else {
      return Deadline(isPast: true, hasCome: { true }) { action in
        Task.startDetached(on: self.executor, priority: .high) { action() }
        return {}
      }
    }
    let instant = clock.now.advanced(by: duration)
    return Deadline(isPast: false, hasCome: { self.clock.now >= instant }) {
      self.schedule($0, at: instant)
    }
  }

  var pending: Int { alarms.withLock { $0.pending } }

  private func schedule(
    _ action: @escaping @Sendable () -> Void, at instant: C.Instant
  ) -> @Sendable () -> Void {
    let (number, needsSleeper) = alarms.withLock { $0.add(action, at: instant) }
    if needsSleeper { startSleeper(until: instant) }
    return {
      // Released outside the lock.
      let action = self.alarms.withLock { $0.cancel(number) }
      withExtendedLifetime(action) {}
    }
  }

  private func startSleeper(until first: C.Instant) {
    let number = sleepers.withLock { sleepers in
      sleepers.last += 1
      sleepers.tasks[sleepers.last] = .some(nil)
      return sleepers.last
    }
    let task = Task.startDetached(on: executor, priority: .high) { [weak self, clock] in
      var instant: C.Instant? = first
      while let wake = instant {
        // It throws when the queue has cancelled it. A clock that throws otherwise ends the sleep early.
        try? await clock.sleep(until: wake, tolerance: nil)
        instant = self?.wake(at: wake)
      }
      self?.sleepers.withLock { $0.tasks[number] = nil }
    }
    sleepers.withLock { sleepers in
      if sleepers.tasks[number] != nil { sleepers.tasks[number] = .some(task) }
    }
  }

  /// Starts the due actions.
  ///
  /// - Parameter instant: the time until which the sleeper slept.
  /// - Returns: the time until which it sleeps again; `nil` if it ends.
  private func wake(at instant: C.Instant) -> C.Instant? {
    let now = clock.now
    let (due, next) = alarms.withLock { $0.wake(at: instant, now: now) }
    // Each in a task of its own: an action runs user code, and may block.
    for action in due { Task.startDetached(on: executor, priority: .high) { action() } }
    return next
  }
}
