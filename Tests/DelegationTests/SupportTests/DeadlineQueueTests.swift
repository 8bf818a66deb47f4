import Testing

@testable import Delegation

@Suite("DeadlineQueue: points in time by which calls have to return", .inTurn)
struct DeadlineQueueTests {
  private let clock = ManualClock()
  private let executor = ManualExecutor()
  private let queue: DeadlineQueue

  init() {
    queue = DeadlineQueue(clock: clock, executor: executor)
  }

  /// Lets time pass and does what is due.
  private func advance(by duration: Duration) {
    executor.run()
    clock.advance(by: duration)
    executor.run()
  }

  @Test("a deadline is past from the start if there is no time at all")
  func isPast() throws {
    #expect(try #require(queue.deadline(after: .zero)).isPast)
    #expect(try #require(queue.deadline(after: .nanoseconds(-1))).isPast)
    #expect(try !#require(queue.deadline(after: .nanoseconds(1))).isPast)
  }

  @Test("what is scheduled for one that is past is done at once, though the clock go backwards")
  func noTime() throws {
    let deadline = try #require(queue.deadline(after: .zero))
    clock.advance(by: .seconds(-5))
    let done = Recorder<Void>()
    _ = deadline.schedule { done.record(()) }
    executor.run()
    #expect(done.history.count == 1)
    #expect(clock.sleepers == 0)
  }

  @Test("it counts from when it was set, however late something is scheduled for it")
  func countsFromStart() throws {
    let deadline = try #require(queue.deadline(after: .seconds(5)))
    advance(by: .seconds(3))
    let ends = Recorder<Duration>()
    _ = deadline.schedule { [clock] in ends.record(clock.now.offset) }
    advance(by: .milliseconds(1_999))
    #expect(ends.history == [])
    advance(by: .milliseconds(1))
    #expect(ends.history == [.seconds(5)])
    #expect(clock.sleepers == 0)
  }

  @Test("what was cancelled is not done, and released at once")
  func cancelled() throws {
    let deadline = try #require(queue.deadline(after: .seconds(5)))
    let lifetimes = Lifetimes()
    let done = Recorder<Int>()
    let kept = lifetimes.make()
    let cancel = deadline.schedule { [tracked = lifetimes.make()] in
      withExtendedLifetime(tracked) { done.record(1) }
    }
    #expect(lifetimes.alive == 2)
    cancel()
    #expect(lifetimes.alive == 1)
    cancel()
    advance(by: .seconds(5))
    #expect(done.history == [])
    #expect(queue.pending == 0)
    withExtendedLifetime(kept) {}
  }

  @Test("one sleeper serves all deadlines that come after the one it sleeps for")
  func oneSleeper() throws {
    let done = Recorder<Int>()
    for seconds in 1...5 {
      _ = try #require(queue.deadline(after: .seconds(seconds))).schedule { done.record(seconds) }
    }
    executor.run()
    #expect(clock.sleepers == 1)
    for seconds in 1...5 {
      advance(by: .seconds(1))
      #expect(done.history == Array(1...seconds))
      #expect(clock.sleepers == (seconds < 5 ? 1 : 0))
    }
  }

  @Test("an earlier deadline gets a sleeper of its own, and none is done twice or too early")
  func earlier() throws {
    let done = Recorder<Int>()
    for seconds in [9, 3, 6] {
      _ = try #require(queue.deadline(after: .seconds(seconds))).schedule { done.record(seconds) }
    }
    executor.run()
    #expect(clock.sleepers == 2)
    for (seconds, expected) in [(2, []), (1, [3]), (2, [3]), (1, [3, 6]), (3, [3, 6, 9])] {
      advance(by: .seconds(seconds))
      #expect(done.history == expected)
    }
    #expect(clock.sleepers == 0)
  }

  @Test("if they are not shared, each deadline has a sleeper, which ends when it is cancelled")
  func ownSleepers() throws {
    let queue = DeadlineQueue(clock: clock, executor: executor, sharingSleepers: false)
    let done = Recorder<Int>()
    let cancel = try [4, 2, 3, 2, 5].map { seconds in
      try #require(queue.deadline(after: .seconds(seconds))).schedule { done.record(seconds) }
    }
    // One that has not begun to sleep does not.
    cancel[2]()
    executor.run()
    #expect(clock.deadlines.map(\.offset) == [2, 2, 4, 5].map { .seconds($0) })
    cancel[0]()
    #expect(clock.deadlines.map(\.offset) == [2, 2, 5].map { .seconds($0) })
    advance(by: .seconds(2))
    #expect(done.history == [2, 2])
    #expect(clock.sleepers == 1)
    for cancel in cancel { cancel() }
    advance(by: .seconds(9))
    #expect(done.history == [2, 2])
    #expect(clock.sleepers == 0)
    #expect(queue.pending == 0)
  }

  @Test("an action that blocks its thread holds up no other one")
  func blocking() async throws {
    let clock = ManualClock()
    let queue = DeadlineQueue(clock: clock, executor: ThreadPool(threads: 3))
    let deadline = try #require(queue.deadline(after: .seconds(1)))
    let (blocked, others) = (Blockade(), Recorder<Int>())
    _ = deadline.schedule { blocked.enter() }
    for number in 0..<3 { _ = deadline.schedule { others.record(number) } }
    _ = await clock.alarms()
    clock.advance(by: .seconds(1))
    #expect(await others.history(of: 3).sorted() == [0, 1, 2])
    #expect(blocked.end())
  }

  @Test("neither its sleep nor its actions come behind other work of medium priority")
  func priority() throws {
    let priorities = Recorder<TaskPriority>()
    let attentive = AttentiveClock(clock: clock, priorities: priorities)
    let queue = DeadlineQueue(clock: attentive, executor: executor)
    for duration in [Duration.zero, .seconds(1)] {
      _ = try #require(queue.deadline(after: duration)).schedule {
        priorities.record(Task.currentPriority)
      }
    }
    advance(by: .seconds(1))
    #expect(priorities.history == [.high, .high, .high])
  }

  /// Notes the priority of the tasks that sleep.
  private struct AttentiveClock: Clock {
    let clock: ManualClock
    let priorities: Recorder<TaskPriority>

    var now: ManualClock.Instant { clock.now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
      priorities.record(Task.currentPriority)
      try await clock.sleep(until: deadline)
    }
  }

  @Test("there is no deadline that is too far away for clocks to say when it is")
  func tooFar() {
    for duration in [Duration.seconds(Int64.max), .seconds(1 << 40), .seconds(1 << 32)] {
      #expect(queue.deadline(after: duration) == nil)
    }
    #expect(queue.deadline(after: Duration(secondsComponent: .max, attosecondsComponent: 0)) == nil)
    #expect(queue.deadline(after: .seconds((1 << 32) - 1)) != nil)
  }

  @Test("a sleeper is not left behind when the queue is released, nor its clock")
  func released() async {
    weak var leftClock: ManualClock?
    do {
      let clock = ManualClock()
      leftClock = clock
      let queue = DeadlineQueue(clock: clock, executor: nil)
      for seconds in [9, 3, 6] { queue.deadline(after: .seconds(seconds))?.schedule {}() }
      await clock.waitForSleepers(2)
    }
    // The sleeper's task ends in its own time.
    for _ in 0..<1_000_000 {
      if leftClock == nil { break }
      await Task.yield()
    }
    #expect(leftClock == nil)
  }

  @Test("a sleeper that is over before its handle is known is not taken for the one that follows")
  func overAtOnce() throws {
    let (executor, clock) = (HastyExecutor(), FickleClock())
    let queue = Lock<DeadlineQueue?>(DeadlineQueue(clock: clock, executor: executor))
    clock.isBroken.withLock { $0 = true }
    executor.afterFirst.withLock { afterFirst in
      afterFirst = {
        clock.isBroken.withLock { $0 = false }
        _ = queue.withLock { $0 }?.deadline(after: .seconds(1))?.schedule {}
      }
    }
    _ = queue.withLock { $0 }?.deadline(after: .seconds(1))?.schedule {}
    executor.run()
    #expect(clock.sound.sleepers == 1)
    // It cancels the task that sleeps.
    _ = queue.withLock { $0.take() }
    executor.run()
    #expect(clock.sound.sleepers == 0)
  }

  /// Runs its first job at once, with something after it.
  private final class HastyExecutor: TaskExecutor {
    let afterFirst = Lock<(@Sendable () -> Void)?>(nil)
    private let jobs = Lock<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      if let after = afterFirst.withLock({ $0.take() }) {
        job.runSynchronously(on: asUnownedTaskExecutor())
        after()
      } else {
        jobs.withLock { $0.append(job) }
      }
    }

    func run() {
      while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }
  }

  @Test("of many deadlines that were cancelled one sleep and little memory is left")
  func manyCancelled() throws {
    let lifetimes = Lifetimes()
    for round in 0..<10_000 {
      let deadline = try #require(queue.deadline(after: .seconds(600 + round % 7)))
      let tracked = lifetimes.make()
      let cancel = deadline.schedule { withExtendedLifetime(tracked) {} }
      cancel()
    }
    #expect(lifetimes.alive == 0)
    #expect(queue.pending == 0)
    executor.run()
    #expect(clock.sleepers == 1)
    advance(by: .seconds(606))
    #expect(clock.sleepers == 0)
  }
}
