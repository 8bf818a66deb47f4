import DelegationTesting
import Testing

@Suite("ManualExecutor")
struct ManualExecutorTests {
  private let executor = ManualExecutor()
  private let history = Recorder<Int>()

  private func start(_ number: Int) {
    Task(executorPreference: executor) { [history] in history.record(number) }
  }

  @Test("nothing runs before it is told to, then everything in the order in which it came")
  func order() {
    for number in 0..<100 { start(number) }
    #expect(history.events == [])
    #expect(executor.pendingJobs == 100)
    #expect(executor.run() == 100)
    #expect(history.events == Array(0..<100))
    #expect(executor.pendingJobs == 0)
    #expect(executor.run() == 0)
  }

  @Test("jobs are run one by one")
  func oneByOne() {
    for number in 0..<2 { start(number) }
    #expect(executor.runNext())
    #expect(history.events == [0])
    #expect(executor.runNext())
    #expect(history.events == [0, 1])
    #expect(!executor.runNext())
  }

  @Test("a limit holds though a task gives way again and again")
  func limit() {
    let task = Task(executorPreference: executor) {
      while !Task.isCancelled { await Task.yield() }
    }
    #expect(executor.run(atMost: 50) == 50)
    #expect(executor.pendingJobs == 1)
    task.cancel()
    executor.run()
    #expect(executor.pendingJobs == 0)
  }

  private actor Counter {
    private(set) var count = 0
    func add() { count += 1 }
  }

  @Test("children, and the default actors that a task enters, run on it as well")
  func inheritance() {
    let counter = Counter()
    let call = executor.start { [history] in
      await withTaskGroup { group in
        for number in 0..<3 {
          group.addTask {
            await counter.add()
            history.record(number)
          }
        }
      }
      return await counter.count
    }
    #expect(call.value == 3)
    #expect(history.events.sorted() == [0, 1, 2])
  }

  @Test("no job that comes from another thread is lost")
  func otherThreads() async {
    let arrived = Recorder<Void>()
    for number in 0..<8 {
      onAnotherThread { [self] in
        for offset in 0..<100 { start(number * 100 + offset) }
        arrived.record(())
      }
    }
    _ = await arrived.events(atLeast: 8)
    #expect(executor.run() == 800)
    #expect(history.events.sorted() == Array(0..<800))
  }

  @Test("a hub on it does nothing before it is told to")
  func hub() async {
    let events = Recorder<String>()
    let hub = DelegateHub(on: executor)
    hub.subscribe(Probe("a", in: events), to: Listener.self, hold: .strongly)
    hub[Listener.self].notify() { $0.hear(1) }
    #expect(events.events == [])
    executor.run()
    #expect(events.events == ["a hears 1"])
  }

  @Test("a call that has not ended has no result, and can be cancelled")
  func call() throws {
    let gate = Gate()
    let passing = executor.start {
      await gate.pass()
      return 1
    }
    #expect(!passing.isOver)
    #expect(passing.value == nil)
    #expect(passing.result == nil)
    gate.open()
    #expect(!passing.isOver)
    executor.run()
    #expect(passing.isOver)
    #expect(passing.value == 1)

    let clock = ManualClock()
    let sleeping = executor.start { try await clock.sleep(for: .seconds(1)) }
    sleeping.cancel()
    executor.run()
    #expect(throws: CancellationError.self) { try sleeping.result?.get() }

    let refused = executor.start { () async throws(Refusal) -> Int in throw Refusal(reason: "no") }
    #expect(refused.result == .failure(Refusal(reason: "no")))
    #expect(throws: Refusal(reason: "no")) { try refused.result?.get() }
  }
}
