import Testing

@testable import Delegation

@Suite("SlowWatch: whom it reports, and when it stops")
struct SlowWatchTests {
  private let inbox = Inbox()
  private let subscribers = [Nobody(), Nobody(), Nobody()]
  private let nodes: [SubscriptionNode]
  private let executor = ManualExecutor()
  private let clock = FickleClock()
  private let reported = Recorder<ObjectIdentifier>()
  private let watch: SlowWatch

  init() {
    nodes = subscribers.map { [inbox] in Structures.subscribe($0, in: inbox) }
    watch = SlowWatch(after: .seconds(1), on: clock, executor: executor) { [reported] node, _ in
      reported.record(ObjectIdentifier(node))
    }
  }

  /// A clock that may be out of order.
  private final class FickleClock: Clock {
    let sound = ManualClock()
    let isBroken = Lock(false)

    var now: ManualClock.Instant { sound.now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
      if isBroken.withLock({ $0 }) { throw Refusal() }
      try await sound.sleep(until: deadline, tolerance: tolerance)
    }
  }

  /// Runs its first job at once, with something before and after it.
  private final class HastyExecutor: TaskExecutor {
    struct Surroundings: Sendable {
      let before: @Sendable () -> Void
      let after: @Sendable () -> Void
    }

    let surroundings = Lock<Surroundings?>(nil)
    private let jobs = Lock<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      if let surroundings = surroundings.withLock({ $0.take() }) {
        surroundings.before()
        job.runSynchronously(on: asUnownedTaskExecutor())
        surroundings.after()
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

  private func pass(_ seconds: Int) {
    clock.sound.advance(by: .seconds(seconds))
    executor.run()
  }

  @Test("all that ran during the whole of its sleep are reported, in the order in which they began")
  func together() {
    defer { inbox.clear() }
    let tickets = nodes.reversed().map { watch.begin($0, in: .vote) }
    executor.run()
    pass(1)
    #expect(reported.history == nodes.reversed().map { ObjectIdentifier($0) })
    for ticket in tickets { watch.end(ticket) }
    pass(1)
    #expect(clock.sound.sleepers == 0)
  }

  @Test("one that has ended is not reported, whoever else goes on")
  func ended() {
    defer { inbox.clear() }
    let tickets = nodes.map { watch.begin($0, in: .vote) }
    executor.run()
    watch.end(tickets[1])
    pass(1)
    #expect(reported.history == [ObjectIdentifier(nodes[0]), ObjectIdentifier(nodes[2])])
  }

  @Test("there is one watch for all, and another when handlers run again after a rest")
  func oneForAll() {
    defer { inbox.clear() }
    for round in 1...3 {
      let tickets = nodes.map { watch.begin($0, in: .vote) }
      executor.run()
      #expect(clock.sound.sleepers == 1, "round \(round)")
      for ticket in tickets { watch.end(ticket) }
      pass(1)
      #expect(clock.sound.sleepers == 0)
      #expect(executor.pending == 0)
    }
    #expect(reported.history == [])
  }

  @Test("with a clock that fails it gives up until another handler begins")
  func failingClock() {
    defer { inbox.clear() }
    clock.isBroken.withLock { $0 = true }
    let first = watch.begin(nodes[0], in: .vote)
    executor.run()
    #expect(clock.sound.sleepers == 0)
    clock.isBroken.withLock { $0 = false }
    let second = watch.begin(nodes[1], in: .vote)
    executor.run()
    #expect(clock.sound.sleepers == 1)
    pass(1)
    #expect(reported.history == [ObjectIdentifier(nodes[0]), ObjectIdentifier(nodes[1])])
    watch.end(first)
    watch.end(second)
  }

  @Test("one that is refused, as its subscription has ended, is not watched")
  func refused() async {
    defer { inbox.clear() }
    nodes[0].terminate(as: .cancelled)
    let worker = Worker(activity: inbox.activity, caller: nil)
    let isAsked = await worker.ask(nodes[0], in: .vote, watchedBy: watch, absence: false) { _ in
      true
    }
    #expect(!isAsked)
    executor.run()
    #expect(clock.sound.sleepers == 0)
    pass(1)
    #expect(reported.history == [])
  }

  @Test("a task that is over before its handle is known is not taken for the one that follows it")
  func overAtOnce() {
    defer { inbox.clear() }
    let (executor, clock) = (HastyExecutor(), ManualClock())
    let watch = Lock<SlowWatch?>(
      SlowWatch(after: .seconds(1), on: clock, executor: executor) { _, _ in })
    executor.surroundings.withLock { [nodes] in
      $0 = HastyExecutor.Surroundings(
        before: { watch.withLock { $0 }?.end(1) },
        after: { _ = watch.withLock { $0 }?.begin(nodes[1], in: .vote) })
    }
    let ticket = watch.withLock { $0 }?.begin(nodes[0], in: .vote)
    #expect(ticket == 1)
    executor.run()
    #expect(clock.sleepers == 1)
    // It cancels the task that sleeps.
    _ = watch.withLock { $0.take() }
    executor.run()
    #expect(clock.sleepers == 0)
  }
}
