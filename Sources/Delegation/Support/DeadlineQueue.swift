/// The deadlines of one hub, and the task that sleeps until the next of them.
///
/// A cancelled sleep keeps its memory until its time has come (the runtime's timers cannot be taken
/// back). So calls share one sleeper: it is not cancelled when a call returns in time, and a second one
/// starts only if an earlier deadline comes.
final class DeadlineQueue<C: Clock>: DeadlineSource where C.Duration == Duration {
  private let clock: C
  private let executor: (any TaskExecutor)?
  private let alarms = Lock(Alarms<C.Instant>())

  /// Beyond this no deadline comes: clocks need not be able to say when it would be.
  private static var farthest: Duration { .seconds(1 << 32) }

  /// - Parameters:
  ///   - clock: what the deadlines go by.
  ///   - executor: where the sleeper and the actions run.
  init(clock: C, executor: (any TaskExecutor)?) {
    self.clock = clock
    self.executor = executor
  }

  func deadline(after duration: Duration) -> Deadline? {
    if duration >= Self.farthest { return nil }
    guard duration > .zero else {
      return Deadline(isPast: true) { action in
        Task.startDetached(on: self.executor) { action() }
        return Deadline.Alarm {}
      }
    }
    let instant = clock.now.advanced(by: duration)
    return Deadline(isPast: false) { self.schedule($0, at: instant) }
  }

  var pending: Int { alarms.withLock { $0.pending } }

  private func schedule(
    _ action: @escaping @Sendable () -> Void, at instant: C.Instant
  ) -> Deadline.Alarm {
    let (number, needsSleeper) = alarms.withLock { $0.add(action, at: instant) }
    if needsSleeper { startSleeper(until: instant) }
    return Deadline.Alarm {
      // Released outside the lock.
      let action = self.alarms.withLock { $0.cancel(number) }
      withExtendedLifetime(action) {}
    }
  }

  private func startSleeper(until first: C.Instant) {
    let (clock, executor) = (clock, executor)
    Task.startDetached(on: executor) {
      var instant: C.Instant? = first
      while let wake = instant {
        // Nobody cancels this task; a clock that throws all the same cannot tell when it is time.
        try? await clock.sleep(until: wake, tolerance: nil)
        let (due, next) = self.alarms.withLock { $0.wake(at: wake, now: clock.now) }
        // Each in a task of its own: an action runs user code, and may block.
        for action in due { Task.startDetached(on: executor) { action() } }
        instant = next
      }
    }
  }
}
