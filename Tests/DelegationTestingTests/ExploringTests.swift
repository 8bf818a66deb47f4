import DelegationTesting
import Dispatch
import Foundation
import Testing

/// What a scenario comes to when all goes well, and what is tried.
@Suite("exploreSchedules", .inTurn)
struct ExploringTests {
  /// A variable that tasks share without protection; only the exploring thread touches it.
  private final class Shared: @unchecked Sendable {
    var value = 0
  }

  @Test(
    "an update that is lost is found",
    arguments: strategies)
  func lostUpdate(strategy: SchedulingStrategy) {
    let failure = #expect(throws: ScheduleFailure.self) {
      try exploreSchedules(seeds: 0..<100, strategy: strategy) { _ in
        let shared = Shared()
        await withTaskGroup { group in
          for _ in 0..<2 {
            group.addTask {
              let value = shared.value
              await Task.yield()
              shared.value = value + 1
            }
          }
        }
        if shared.value != 2 { throw Refusal(reason: "\(shared.value)") }
      }
    }
    #expect(failure?.kind == .threw && failure?.error as? Refusal == Refusal(reason: "1"))
  }

  @Test("priorities find what takes one task to run far ahead of another, a random walk does not")
  func farAhead() {
    @Sendable func scenario(_ executor: SeededExecutor) async throws {
      let shared = Shared()
      try await withThrowingTaskGroup { group in
        group.addTask {
          shared.value = 1
          await Task.yield()
          shared.value = 2
        }
        group.addTask {
          guard shared.value == 1 else { return }
          for _ in 0..<40 { await Task.yield() }
          if shared.value == 1 { throw Refusal() }
        }
        try await group.waitForAll()
      }
    }
    #expect(throws: Never.self) {
      try exploreSchedules(seeds: 0..<2000, strategy: .random, scenario)
    }
    #expect(throws: ScheduleFailure.self) {
      try exploreSchedules(seeds: 0..<2000, strategy: .priorities, scenario)
    }
  }

  @Test("explorations on queues of their own hold up nobody, however many they are")
  func offThePool() async throws {
    // The last one lets the others go on. On threads of the pool it would have none.
    let (entered, opened) = (Recorder<Void>(), DispatchSemaphore(value: 0))
    let count = 4 * ProcessInfo.processInfo.activeProcessorCount
    try await withThrowingTaskGroup { group in
      for _ in 0..<count {
        group.addTask {
          let queue = DispatchQueueExecutor(DispatchQueue(label: "exploring"))
          _ = try await withTaskExecutorPreference(queue) {
            try replaySchedule(seed: 0) { _ in
              entered.record(())
              #expect(opened.wait(timeout: .now() + 60) == .success)
            }
          }
        }
      }
      group.addTask {
        _ = await entered.events(atLeast: count)
        for _ in 0..<count { opened.signal() }
      }
      try await group.waitForAll()
    }
  }

  /// A number that is raised in two calls.
  private actor Balance {
    private(set) var amount = 0
    private var seen: [Int: Int] = [:]
    func look(for task: Int) { seen[task] = amount }
    func raise(for task: Int) { amount = seen[task, default: 0] + 1 }
  }

  @Test("two calls of an actor with nothing between them are one visit", arguments: [false, true])
  func oneVisit(yields: Bool) {
    let found = Result {
      try exploreSchedules(seeds: 0..<500) { _ in
        let balance = Balance()
        await withDiscardingTaskGroup { group in
          for task in 0..<2 {
            group.addTask {
              await balance.look(for: task)
              if yields { await Task.yield() }
              await balance.raise(for: task)
            }
          }
        }
        if await balance.amount != 2 { throw Refusal() }
      }
    }
    #expect(((try? found.get()) == nil) == yields)
  }

  private actor Log {
    private(set) var entries = ""
    func add(_ entry: String) { entries += entry }
  }

  @Test("actors can be entered in each order")
  func actors() throws {
    let orders = Recorder<String>()
    let exploration = try exploreSchedules(seeds: 0..<500) { _ in
      let log = Log()
      async let one: Void = log.add("1")
      async let two: Void = log.add("2")
      async let three: Void = log.add("3")
      _ = await (one, two, three)
      orders.record(await log.entries)
    }
    #expect(Set(orders.events).count == 6 && exploration.schedules == 500)
    // At least one schedule for each order.
    #expect(exploration.distinctSchedules >= 6 && exploration.foreignJobs == 0)
  }

  /// Somewhere to go.
  private actor Desk {
    func note(_ text: String, in order: Recorder<String>) { order.record(text) }
    func visit() {}
    func stay() async { await Task.yield() }
  }

  /// What lies between two steps of a task, and whether another task may come between them.
  private static let places: [(String, Bool, @Sendable (Desk, Recorder<String>) async -> Void)] =
    [
      ("nothing", false, { _, _ in }),
      ("a yield", true, { _, _ in await Task.yield() }),
      (
        "a suspension", true,
        { _, _ in
          let gate = Gate()
          async let opener: Void = gate.open()
          await gate.pass()
          await opener
        }
      ),
      ("entering an idle actor", true, { await $0.note("2", in: $1) }),
      ("leaving it", true, { desk, _ in await desk.visit() }),
      (
        "waiting for a busy one", true,
        { desk, order in
          async let other: Void = desk.stay()
          await desk.note("2", in: order)
          await other
        }
      ),
    ]

  @Test("tasks take turns where they suspend, and nowhere else", arguments: places.indices)
  func turns(index: Int) throws {
    let (name, expected, step) = Self.places[index]
    let orders = Recorder<[String]>()
    try exploreSchedules(seeds: 0..<200) { _ in
      let (desk, order) = (Desk(), Recorder<String>())
      async let one: Void = {
        order.record("1")
        await step(desk, order)
        if !order.events.contains("2") { order.record("2") }
      }()
      async let two: Void = order.record("other")
      _ = await (one, two)
      orders.record(order.events)
    }
    #expect(orders.events.contains(["1", "other", "2"]) == expected, "\(name)")
    #expect(orders.events.contains(["other", "1", "2"]))
    #expect(orders.events.contains(["1", "2", "other"]))
  }

  @Test("what the scenario leaves behind runs to its end, and nothing is kept")
  func leftovers() throws {
    let ended = Recorder<String>()
    try exploreSchedules(seeds: 0..<20) { executor in
      let mortal = Mortal { ended.record("dead") }
      Task(executorPreference: executor) {
        for _ in 0..<5 { await Task.yield() }
        withExtendedLifetime(mortal) {}
        ended.record("ran")
      }
      Task(executorPreference: executor) {
        do {
          try await executor.clock.sleep(for: .seconds(1))
          ended.record("slept")
        } catch {
          withExtendedLifetime(mortal) {}
          ended.record("woken")
        }
      }
    }
    #expect(ended.events.filter { $0 == "ran" }.count == 20)
    #expect(ended.events.filter { $0 == "dead" }.count == 20)
    #expect(ended.events.filter { $0 == "woken" }.count == 20)
  }

  @Test("the schedule's clock goes on when nothing else can, and may be advanced at any time")
  func clock() throws {
    let outcomes = Recorder<Bool>()
    try exploreSchedules(seeds: 0..<200) { executor in
      let clock = executor.clock
      async let sleeper: Void = clock.sleep(for: .seconds(10))
      async let worker: Void = {
        for _ in 0..<5 { await Task.yield() }
        outcomes.record(clock.now.offset == .zero)
      }()
      async let other: Void = {
        await Task.yield()
        clock.advance(by: .seconds(3))
      }()
      _ = try await (sleeper, worker, other)
      // Without the task that advances it, it would stop at 10.
      guard [.seconds(10), .seconds(13)].contains(clock.now.offset) else {
        throw Refusal(reason: "\(clock.now)")
      }
    }
    #expect(Set(outcomes.events) == [true, false])
  }

  @Test("a hub's deadlines, mailboxes and lanes take part")
  func hub() throws {
    let exploration = try exploreSchedules(seeds: 0..<300) { executor in
      let history = Recorder<String>()
      let hub = DelegateHub(on: executor, clock: executor.clock)
      let gate = Gate()
      hub.subscribe(Probe("a", in: history), to: Listener.self, hold: .strongly)
      hub.subscribe(
        Probe("b", in: history), to: Listener.self, hold: .strongly, on: executor.makeLane())
      async let late = hub[Listener.self].vote(within: .seconds(1), absent: .counts(as: false)) {
        _ = await $0.answer(1)
        await gate.pass()
        return true
      }
      hub[Listener.self].notify { $0.hear(2) }
      hub[Listener.self].notify { $0.hear(3) }
      let isLate = await !late
      try #require(isLate)
      try #require(executor.clock.now.offset == .seconds(1))
      gate.open()
      try #require(await hub.drain().isEmpty)
      for name in ["a", "b"] {
        let heard = history.events.filter { $0.hasPrefix("\(name) hears") }
        try #require(heard == ["\(name) hears 2", "\(name) hears 3"])
      }
    }
    // What the hub does takes part: one seed plays it in another order than the next.
    #expect(exploration.distinctSchedules > 1)
  }

  @Test("what comes from other threads is not lost, and is counted")
  func otherThreads() throws {
    let exploration = try exploreSchedules(seeds: 0..<100, patience: .seconds(60)) { _ in
      let waiting = Recorder<CheckedContinuation<Void, Never>>()
      // On the one thread of all tasks: when another one finds the continuation, its task is suspended.
      async let waker: Void = {
        while true {
          if let continuation = waiting.events.first {
            return onAnotherThread { continuation.resume() }
          }
          await Task.yield()
        }
      }()
      await withCheckedContinuation { waiting.record($0) }
      await waker
    }
    #expect(exploration.schedules == 100 && exploration.foreignJobs > 0)
    #expect("\(exploration)".contains("jobs from other threads"))
  }

  @Test("issues are recorded for the test that explores")
  func issues() throws {
    try withKnownIssue {
      try exploreSchedules(seeds: 0..<3) { executor in
        async let other: Void = Task.yield()
        await Task.yield()
        await other
        #expect(Bool(false), "seed \(executor.seed)")
      }
    } matching: { issue in
      issue.comments.contains { ["seed 0", "seed 1", "seed 2"].contains($0.rawValue) }
    }
  }

  @Test("no seeds at all stop the program")
  func noSeeds() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try exploreSchedules(seeds: []) { _ in }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("nothing would be tried"))
  }
}
