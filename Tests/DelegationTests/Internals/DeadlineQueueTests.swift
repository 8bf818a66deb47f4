import Testing

@testable import Delegation

@Suite("DeadlineQueue: points in time by which calls have to return", .inTurn)
struct DeadlineQueueTests {
  private let clock = ManualClock()
  private let executor = ManualExecutor()
  private let queue: DeadlineQueue
  private let done = Recorder<Int>()

  init() {
    queue = DeadlineQueue(clock: clock, executor: executor)
  }

  /// Lets time pass and does what is due.
  private func advance(by duration: Duration) {
    executor.run()
    clock.advance(by: duration)
    executor.run()
  }

  /// Schedules something for that many seconds from now, and gives what cancels it.
  @discardableResult
  private func schedule(_ seconds: Int, in queue: DeadlineQueue? = nil) -> @Sendable () -> Void {
    guard let deadline = (queue ?? self.queue).deadline(after: .seconds(seconds)) else { return {} }
    return deadline.schedule { [done] in done.record(seconds) }
  }

  @Test("after every history of six steps the alarms are a list's, and a sleeper wakes in time")
  func agreesWithList() {
    #expect(AlarmsWorld().explore(upTo: 6) == nil)
  }

  @Test("what is due comes in order, however many there are and are cancelled", arguments: seeds(8))
  func order(seed: UInt64) {
    var (dice, alarms) = (Dice(seed: seed), Alarms())
    var set: [(number: Int, at: Int)] = []
    for _ in 0..<500 {
      let second = dice.roll(1_000)
      set.append(
        (
          alarms.add({ [done] in done.record(second) }, at: .seconds(second), since: .zero).number,
          second
        ))
      // Most are cancelled, so that the heap is rebuilt.
      if dice.roll(3) == 0 { continue }
      let (number, _) = set.remove(at: dice.roll(set.count))
      let isThere = [alarms.cancel(number).action, alarms.cancel(number).action].map { $0 != nil }
      #expect(isThere == [true, false])
    }
    // Those that are cancelled are forgotten when they are more than half.
    #expect(alarms.actions.count == set.count && alarms.heap.count <= max(65, 2 * set.count + 2))
    for second in stride(from: 99, through: 999, by: 100) {
      let sleeper = alarms.sleepers.last?.number ?? 0
      for action in alarms.wake(sleeper, now: .seconds(second)).due { action() }
      #expect(done.history == set.map(\.at).filter { $0 <= second }.sorted())
    }
    #expect(alarms.actions.isEmpty && alarms.heap.isEmpty)
  }

  @Test(
    "a deadline counts from when it was set; none is so far away that clocks cannot say when it is")
  func deadlines() throws {
    #expect(queue.deadline(after: .zero)?.isPast == true)
    #expect(queue.deadline(after: .nanoseconds(-1))?.isPast == true)
    #expect(queue.deadline(after: .nanoseconds(1))?.isPast == false)
    for duration in [Duration.seconds(Int64.max), .seconds(1 << 32)] {
      #expect(queue.deadline(after: duration) == nil)
    }
    #expect(queue.deadline(after: .seconds((1 << 32) - 1)) != nil)
    let deadline = try #require(queue.deadline(after: .seconds(5)))
    advance(by: .seconds(3))
    _ = deadline.schedule { [done] in done.record(5) }
    advance(by: .milliseconds(1_999))
    #expect(done.history == [])
    advance(by: .milliseconds(1))
    #expect(done.history == [5])
    #expect(clock.sleepers == 0)
  }

  @Test("if they are not shared, each deadline has a sleeper, which ends when it is cancelled")
  func ownSleepers() {
    let queue = DeadlineQueue(clock: clock, executor: executor, sharingSleepers: false)
    let cancel = [4, 2, 3, 2, 5].map { schedule($0, in: queue) }
    // One that has not begun to sleep does not.
    cancel[2]()
    executor.run()
    #expect(clock.deadlines.map(\.offset) == [2, 2, 4, 5].map { .seconds($0) })
    cancel[0]()
    #expect(clock.deadlines.map(\.offset) == [2, 2, 5].map { .seconds($0) })
    advance(by: .seconds(2))
    for cancel in cancel { cancel() }
    advance(by: .seconds(9))
    #expect(done.history == [2, 2])
    #expect(clock.sleepers == 0 && queue.alarms.withLock { $0.actions.isEmpty })
  }

  @Test("of many deadlines that were cancelled nothing but one sleep is left")
  func manyCancelled() throws {
    let lifetimes = Lifetimes()
    for round in 0..<10_000 {
      let deadline = try #require(queue.deadline(after: .seconds(600 + round % 7)))
      let tracked = lifetimes.make()
      deadline.schedule { withExtendedLifetime(tracked) {} }()
    }
    #expect(lifetimes.alive == 0 && queue.alarms.withLock { $0.actions.isEmpty })
    executor.run()
    #expect(clock.sleepers == 1)
    advance(by: .seconds(606))
    #expect(clock.sleepers == 0)
  }

  @Test("deadlines that come nearer and nearer have few sleepers, and each is met")
  func falling() {
    for seconds in (1...100).reversed() { schedule(seconds) }
    executor.run()
    #expect(clock.sleepers <= 9)
    for seconds in 1...100 {
      advance(by: .seconds(1))
      #expect(done.history == Array(1...seconds))
    }
    #expect(clock.sleepers == 0)
  }

  @Test("an action that blocks its thread holds up no other one, and all have high priority")
  func blocking() async throws {
    let (clock, priorities) = (ManualClock(), Recorder<TaskPriority>())
    let queue = DeadlineQueue(clock: clock, executor: ThreadPool(threads: 3))
    let deadline = try #require(queue.deadline(after: .seconds(1)))
    let blocked = Blockade()
    _ = deadline.schedule { blocked.enter() }
    for _ in 0..<3 { _ = deadline.schedule { priorities.record(Task.currentPriority) } }
    _ = await clock.alarms()
    clock.advance(by: .seconds(1))
    #expect(await priorities.history(of: 3) == [.high, .high, .high])
    #expect(blocked.end())
  }

  @Test("no sleeper is left behind when the queue is released, nor its clock")
  func released() async {
    var clock: ManualClock? = ManualClock()
    let obituary = Obituary(of: clock!)
    do {
      let queue = DeadlineQueue(clock: clock!, executor: nil)
      for seconds in [9, 3, 6] { schedule(seconds, in: queue)() }
      await clock?.waitForSleepers(2)
    }
    clock = nil
    await obituary.death()
  }
}

/// Alarms, and beside them a list of what is set and of the sleepers.
private struct AlarmsWorld: SmallWorld {
  enum Step {
    /// Sets an alarm some time from now.
    case add(Int)
    case cancelFirst, cancelLast
    /// Time passes; those whose time has come wake, the earliest first.
    case pass
    /// It passes, and no sleeper has woken yet.
    case passUnnoticed
  }

  private var alarms = Alarms()
  private var now = 0
  private var list: [(number: Int, at: Int)] = []
  private var sleepers: [(number: Int, at: Duration)] = []

  var steps: [Step] {
    var steps: [Step] = [.pass, .passUnnoticed]
    if list.count < 4 { steps += [.add(1), .add(2), .add(4)] }
    if !list.isEmpty { steps.append(.cancelFirst) }
    if list.count > 1 { steps.append(.cancelLast) }
    return steps
  }

  mutating func take(_ step: Step) -> String? {
    switch step {
    case .add(let delay):
      let (number, first) = alarms.add({}, at: .seconds(now + delay), since: .seconds(now))
      list.append((number, now + delay))
      if let first { sleepers.append((number, first)) }
    case .cancelFirst: if alarms.cancel(list.removeFirst().number).action == nil { return "gone" }
    case .cancelLast: if alarms.cancel(list.removeLast().number).action == nil { return "gone" }
    case .pass:
      now += 1
      if let fault = wake() { return fault }
    case .passUnnoticed: now += 1
    }
    if alarms.actions.count != list.count {
      return "\(alarms.actions.count) set, expected \(list.count)"
    }
    if Set(sleepers.map(\.at)).count < sleepers.count { return "two sleep until the same time" }
    guard let earliest = list.map(\.at).min() else { return nil }
    return sleepers.contains { $0.at <= .seconds(earliest) } ? nil : "none sleeps until \(earliest)"
  }

  private mutating func wake() -> String? {
    while let sleeper = sleepers.filter({ $0.at <= .seconds(now) }).min(by: { $0.at < $1.at }) {
      sleepers.removeAll { $0.number == sleeper.number }
      let (due, next) = alarms.wake(sleeper.number, now: .seconds(now))
      let expected = list.count { $0.at <= now }
      if due.count != expected { return "\(due.count) are due, expected \(expected)" }
      list.removeAll { $0.at <= now }
      if let next { sleepers.append((sleeper.number, next)) }
    }
    return nil
  }
}
