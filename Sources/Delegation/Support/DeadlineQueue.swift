/// The deadlines of one hub, and its *sleepers*: tasks that sleep until the next deadline.
///
/// A cancelled sleep keeps its memory until its time has come, because the runtime's timers cannot be removed. So calls
/// share a sleeper, which is not cancelled when a call returns in time. A deadline before the sleeper's time starts a
/// second sleeper, which first wakes halfway to that deadline, to serve still earlier ones. A woken sleeper ends if
/// another one wakes in time for the rest.
///
/// Sleepers do not retain the queue: with a clock that nobody advances, they would keep it alive for good. The queue's
/// `deinit` cancels them. With a test's clock each deadline has a sleeper of its own, so that the test sees the
/// deadlines.
///
/// Sleepers and actions run on `executor` with high priority, so that a caller of high priority does not wait for all
/// work of medium priority.
final class DeadlineQueue: Sendable {
  /// The time since the queue was made, by the queue's clock.
  let now: @Sendable () -> Duration
  private let sleep: @Sendable (Duration) async -> Void
  private let executor: (any TaskExecutor)?
  let alarms: Lock<Alarms>

  init(
    clock: some Clock<Duration>, executor: (any TaskExecutor)?,
    sharingSleepers sharesSleepers: Bool = true
  ) {
    let start = clock.now
    // Generic code takes thrice as long, and most hubs have this clock.
    if let start = start as? ContinuousClock.Instant {
      now = { start.duration(to: .now) }
    } else {
      now = { start.duration(to: clock.now) }
    }
    // The sleep throws when the queue has cancelled it. A clock that throws for another reason ends the sleep early.
    sleep = { try? await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    self.executor = executor
    alarms = Lock(Alarms(sharingSleepers: sharesSleepers))
  }

  deinit { for sleeper in alarms.withLock({ $0.sleepers }) { sleeper.task?.cancel() } }

  /// A deadline that counts from now; `nil` if it is too far away ever to come.
  func deadline(after duration: Duration) -> Deadline? {
    if duration >= Deadline.farthest { return nil }
    let start = now()
    return Deadline(isPast: duration <= .zero, start: start, time: start + duration, queue: self)
  }

  fileprivate func startSleeper(_ number: Int, until first: Duration) {
    let task = Task.startDetached(on: executor, priority: .high) { [weak self, sleep, executor] in
      var next: Duration? = first
      while let time = next {
        await sleep(time)
        guard let self else { return }
        let now = now()
        let woken = alarms.withLock { $0.wake(number, now: now) }
        for action in woken.due { Task.startDetached(on: executor, priority: .high) { action() } }
        next = woken.next
      }
    }
    alarms.withLock { $0.setTask(task, of: number) }
  }
}

/// A point in time by which a call has to return.
///
/// The time counts from the call, even if the task that waits for the deadline starts late.
@usableFromInline
struct Deadline: Sendable {
  /// A deadline this far away, or farther, never comes: a clock might not be able to represent it.
  static var farthest: Duration { .seconds(1 << 32) }

  /// Whether the deadline's duration was zero or less.
  let isPast: Bool
  /// When the deadline was set, by the queue's time.
  let start: Duration
  /// When the deadline comes, by the queue's time.
  let time: Duration
  let queue: DeadlineQueue

  var hasCome: Bool { isPast || queue.now() >= time }

  /// Runs an action at the deadline, in a task of its own, unless the action is cancelled before.
  ///
  /// If the deadline was past from the start, runs the action at once.
  ///
  /// Not inlined: each caller would have its code.
  ///
  /// - Parameter action: the action, which may block.
  /// - Returns: what cancels and releases the action.
  @inline(never)
  func schedule(_ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    if isPast {
      action()
      return {}
    }
    let (number, first) = queue.alarms.withLock { $0.add(action, at: time, since: start) }
    if let first { queue.startSleeper(number, until: first) }
    return { [queue] in
      // To cancel a sleeper and to release an action may run user code: both are done outside the lock.
      let (action, sleeper) = queue.alarms.withLock { $0.cancel(number) }
      sleeper?.cancel()
      withExtendedLifetime(action) {}
    }
  }
}

/// The *alarms*, each an action with its time, and the sleepers that wake for them.
///
/// Invariant: while an alarm is set, a sleeper wakes no later than the earliest alarm.
struct Alarms: Sendable {
  /// An alarm's action: a type, because a bare closure would be wrapped each time that it leaves the lock.
  struct Action: Sendable {
    let run: @Sendable () -> Void
    func callAsFunction() { run() }
  }

  /// The alarms by time, a binary heap with the earliest first.
  ///
  /// Cancelled alarms stay until they are more than half of the heap. A sorted array would be slow: short deadlines,
  /// and the watch for slow handlers, are inserted before thousands of long ones.
  private(set) var heap: [(time: Duration, number: Int)] = []
  private(set) var actions: [Int: Action] = [:]
  private var lastNumber = 0
  /// The sleepers: the alarm that each was started for, when the sleeper wakes, and its task once that is known.
  ///
  /// If sleepers are shared, the earliest to wake is last, and no two wake at the same time.
  private(set) var sleepers: [(number: Int, time: Duration, task: Task<Void, any Error>?)] = []
  /// Whether one sleeper serves several alarms; if not, each alarm has a sleeper of its own, cancelled with the alarm.
  private let sharesSleepers: Bool

  init(sharingSleepers sharesSleepers: Bool = true) { self.sharesSleepers = sharesSleepers }

  /// Sets an alarm.
  ///
  /// - Returns: the alarm's number; and until when a new sleeper first sleeps, if one is needed.
  mutating func add(
    _ action: @escaping @Sendable () -> Void, at time: Duration, since start: Duration
  ) -> (number: Int, first: Duration?) {
    lastNumber += 1
    actions[lastNumber] = Action(run: action)
    heap.append((time, lastNumber))
    siftUp(heap.count - 1)
    if sharesSleepers, wakes(by: time) { return (lastNumber, nil) }
    let first = sharesSleepers && !sleepers.isEmpty ? (start + time) / 2 : time
    sleepers.append((lastNumber, first, nil))
    return (lastNumber, first)
  }

  /// Notes the task of a sleeper, unless the sleeper has ended already.
  mutating func setTask(_ task: Task<Void, any Error>, of number: Int) {
    guard let index = sleepers.lastIndex(where: { $0.number == number }) else { return }
    sleepers[index].task = task
  }

  /// Cancels an alarm.
  ///
  /// - Returns: the alarm's action and the task of the alarm's own sleeper, if there is one; release the former and
  ///   cancel the latter outside the lock.
  mutating func cancel(_ number: Int) -> (action: Action?, sleeper: Task<Void, any Error>?) {
    let own = sharesSleepers ? nil : sleepers.firstIndex { $0.number == number }
    let sleeper = own.flatMap { sleepers.remove(at: $0).task }
    let action = actions.removeValue(forKey: number)
    if action != nil, heap.count > 64, heap.count > actions.count * 2 {
      // The heap and the actions are copied, so that a peak's memory is not kept.
      heap = heap.filter { actions[$0.number] != nil }
      actions = actions.filter { _ in true }
      for index in heap.indices { siftUp(index) }
    }
    return (action, sleeper)
  }

  /// Takes out the due actions when a sleeper wakes.
  ///
  /// - Returns: the due actions, and until when the sleeper sleeps again; `nil` if it ends.
  mutating func wake(_ number: Int, now: Duration) -> (due: [Action], next: Duration?) {
    guard let index = sleepers.lastIndex(where: { $0.number == number }) else { return ([], nil) }
    var sleeper = sleepers.remove(at: index)
    var due: [Action] = []
    while let first = heap.first {
      if let action = actions[first.number] {
        // If the clock ends a sleep early, its time counts as reached, against an endless loop.
        guard first.time <= max(sleeper.time, now) else { break }
        due.append(action)
        actions[first.number] = nil
      }
      removeFirst()
    }
    guard sharesSleepers, let next = heap.first?.time, !wakes(by: next) else { return (due, nil) }
    sleeper.time = next
    sleepers.append(sleeper)
    return (due, next)
  }

  private func wakes(by time: Duration) -> Bool {
    if let last = sleepers.last { last.time <= time } else { false }
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].time < heap[least].time { least = child }
      if least == parent { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }

  private mutating func siftUp(_ index: Int) {
    var child = index
    while child > 0, heap[child].time < heap[(child - 1) / 2].time {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }
}
