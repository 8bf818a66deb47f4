import DelegationTesting
import Testing

@Suite(
  "An exploration that cannot see an order says so, and one that sees all of them does not", .inTurn
)
struct UnexploredTests {
  /// Goes on with a job though it has been stopped meanwhile.
  private actor Service {
    private var isRunning = true
    private(set) var isFaulty = false

    func handle() async {
      guard isRunning else { return }  // checks,
      await Task.yield()  // awaits,
      if !isRunning { isFaulty = true }  // and acts
    }

    @discardableResult
    func stop() -> Bool {
      isRunning = false
      return true
    }

    func stopSlowly() async {
      await Task.yield()
      isRunning = false
    }

    func stop(_ other: Service) async { await other.stop() }
    func race(for other: Service) async {
      async let job: Void = other.handle()
      await other.stop()
      await job
    }
    func open(_ gate: Gate) { gate.open() }
    func wait(for stream: AsyncStream<Never>) async {
      isRunning = true
      for await _ in stream {}
      isRunning = true
    }
  }

  private final class Asker: Listener {
    let service: Service
    init(_ service: Service) { self.service = service }
    func hear(_ number: Int) {}
    func answer(_ number: Int) async -> Bool { await service.stop() }
  }

  private typealias Scenario = @Sendable (SeededExecutor, Service) async -> Void

  private static func kind(
    of scenario: @escaping Scenario, seeds: Range<UInt64> = 0..<1_000,
    strategy: SchedulingStrategy = .alternating
  ) -> ScheduleFailure.Kind? {
    do throws(ScheduleFailure) {
      try exploreSchedules(seeds: seeds, strategy: strategy) { executor in
        let service = Service()
        await scenario(executor, service)
        if await service.isFaulty { throw Refusal() }
      }
      return nil
    } catch {
      if [.headStart, .uniform].contains(error.kind) {
        let words = error.kind == .uniform ? "nothing was explored" : "one order was never played"
        #expect(error.description.hasPrefix("no schedule failed, but \(words)"))
        #expect(error.seed == seeds.lowerBound)
      }
      return error.kind
    }
  }

  /// What the scenario calls before the service's tasks, if it is not to be seen.
  private static let stop: Scenario = { _, service in
    async let job: Void = service.handle()
    await service.stop()
    await job
  }

  @Test(
    "one in which the scenario's own call came first in every schedule",
    arguments: strategies)
  func ownCallFirst(strategy: SchedulingStrategy) {
    #expect(Self.kind(of: Self.stop, strategy: strategy) == .headStart)
    let others = Self.kind(
      of: { executor, service in
        let tasks = (0..<3).map { _ in
          Task(executorPreference: executor) { await service.handle() }
        }
        await service.stop()
        for task in tasks { await task.value }
      }, strategy: strategy)
    #expect(others == .headStart)
  }

  /// The same, where the task comes to the service in another way.
  private static func coming(_ way: @escaping @Sendable (Service) async -> Void) -> Scenario {
    { _, service in
      async let job: Void = way(service)
      await service.stop()
      await job
    }
  }

  private static let detours: [Scenario] = [
    coming { await Service().stop($0) },
    coming { service in
      await Service().stop()
      await service.stop()
    },
    coming { service in
      await Task.yield()
      await service.stop()
    },
    coming { service in await withTaskGroup { $0.addTask { _ = await service.stop() } } },
    { executor, service in
      let (hub, asker) = (DelegateHub(on: executor), Asker(service))
      hub.subscribe(asker, to: Listener.self)
      async let job = hub[Listener.self].vote { await $0.answer(1) }
      await service.stop()
      _ = await job
    },
    // The number of tasks differs, and the actor may be busy.
    { executor, service in
      async let early = service.stop()
      await Task.yield()
      await withTaskGroup { group in
        group.addTask { _ = await service.stop() }
        if executor.seed % 7 == 3 { group.addTask {} }
        await service.stop()
      }
      _ = await early
    },
  ]

  @Test("the task may come to the actor in any way", arguments: detours.indices)
  func detour(index: Int) {
    #expect(Self.kind(of: Self.detours[index]) == .headStart)
  }

  /// What competes with nobody, though it looks as a head start does.
  private static let innocents: [Scenario] = [
    { _, _ in
      for _ in 0..<2 {
        let other = Service()
        async let one: Void = Task.yield()
        await other.stop()
        _ = await one
      }
    },
    { _, _ in
      let other = Service()
      async let one: Void = Task.yield()
      await other.stopSlowly()
      _ = await one
    },
    // Tasks that compete for another actor than the scenario's.
    { _, _ in
      let (one, other) = (Service(), Service())
      async let first = one.stop()
      async let second = one.stop()
      await other.stop()
      _ = await (first, second)
    },
    // One that comes after the scenario's call: that, or what follows it, lets the task go on.
    { _, _ in
      let (other, gate, late) = (Service(), Gate(), Gate())
      async let first: Void = {
        await gate.pass()
        await other.stop()
      }()
      async let second: Void = {
        await late.pass()
        await other.stop()
      }()
      await other.open(gate)
      late.open()
      _ = await (first, second)
    },
    // An actor that may have the address of the scenario's, which has died.
    { _, _ in
      async let competing: Void = {
        let late = Service()
        async let one = late.stop()
        async let two = late.stop()
        _ = await (one, two)
      }()
      await Service().stop()
      await competing
    },
    // One that the scenario's call waits for.
    { _, _ in
      let (stream, gate) = AsyncStream.makeStream(of: Never.self)
      async let opener: Void = gate.finish()
      await Service().wait(for: stream)
      await opener
    },
    // Untimed questions, whose voters call one actor or several.
    { executor, _ in await Self.ask(3, of: [Service()], on: executor) },
    { executor, _ in await Self.ask(2, of: [Service(), Service()], on: executor) },
    // A task that has run as a part of the scenario's job waits for the turn, not the scenario.
    { executor, _ in
      guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
      let other = Service()
      let first = Task.immediate(executorPreference: executor) { await other.stop() }
      let second = Task(executorPreference: executor) { await other.stop() }
      _ = await (first.value, second.value)
    },
  ]

  private static func ask(
    _ count: Int, of services: [Service], on executor: SeededExecutor
  ) async {
    let hub = DelegateHub(on: executor, clock: executor.clock)
    for number in 0..<count {
      let asker = Asker(services[number % services.count])
      hub.subscribe(asker, to: Listener.self, hold: .strongly)
    }
    let listeners = hub[Listener.self]
    if await !listeners.vote({ await $0.answer(1) }) { Issue.record("it should be granted") }
    let replies = await listeners.collect { await $0.answer(2) }
    if replies.count != count { Issue.record("\(replies)") }
  }

  @Test(
    "what competes with nobody is not reported, and what follows it is",
    arguments: innocents.indices)
  func innocent(index: Int) {
    for next in [nil, Self.stop] {
      let kind = Self.kind { executor, service in
        await Self.innocents[index](executor, service)
        if let next { return await next(executor, service) }
        // Another choice, so that something is explored.
        async let one: Void = Task.yield()
        async let two: Void = Task.yield()
        _ = await (one, two)
      }
      #expect(kind == (next == nil ? nil : .headStart))
    }
  }

  @Test("in a child task, or after the others have had a turn, the call competes")
  func competing() {
    let inChildren = Self.kind { _, service in
      async let job: Void = service.handle()
      async let stop = service.stop()
      _ = await (job, stop)
    }
    #expect(inChildren == .threw)
    let afterYield = Self.kind { _, service in
      async let job: Void = service.handle()
      await Task.yield()
      await service.stop()
      await job
    }
    #expect(afterYield == .threw)
  }

  @Test("a call that no task competes with may come first")
  func alone() {
    let before = Self.kind { _, service in
      await service.stop()
      async let one: Void = service.handle()
      async let two: Void = service.handle()
      _ = await (one, two)
    }
    #expect(before == nil)
    // What the call itself resumes has waited elsewhere.
    let resumed = Self.kind { executor, service in
      let gate = Gate()
      let task = Task(executorPreference: executor) { await gate.pass() }
      await service.open(gate)
      await task.value
    }
    #expect(resumed == nil)
  }

  @Test(
    "it cannot tell of a synchronous call, an idle hub's drain, a resumed task, or a child's or an actor's call"
  )
  func untold() {
    let kind = Self.kind { executor, _ in
      let hub = DelegateHub(on: executor)
      let asker = Asker(Service())
      let subscription = hub.subscribe(asker, to: Listener.self)
      async let vote = hub[Listener.self].vote { await $0.answer(1) }
      async let other: Void = Task.yield()
      subscription.cancel()
      _ = await (vote, other)
      async let late: Void = hub[Listener.self].notify { $0.hear(1) }
      async let another: Void = Task.yield()
      await hub.drain()
      _ = await (late, another)
      let (service, gate, isThere) = (Service(), Gate(), Gate())
      async let resumed: Void = {
        isThere.open()
        await gate.pass()
        await service.stop()
      }()
      await isThere.pass()
      gate.open()
      await service.stop()
      await resumed
      async let child: Void = Self.stop(executor, service)
      await child
      await Service().race(for: service)
    }
    #expect(kind == nil)
  }

  @Test("one in which no job could run in place of another, unless it is one schedule")
  func uniform() {
    let scenario: Scenario = { _, service in for _ in 0..<3 { await service.handle() } }
    #expect(Self.kind(of: scenario, seeds: 7..<9) == .uniform)
    #expect(Self.kind(of: scenario, seeds: 7..<8) == nil)
  }
}
