import Testing

@testable import Delegation

@Suite("Faults: clocks and executors that are not what they should be", .inTurn)
struct FaultSurroundingsTests {
  /// A question of three, one of whom hangs until the gate opens.
  private func ask(
    within duration: Duration, passing gate: Gate, on stage: Stage
  ) -> Stage.Act<[String]> {
    stage.start { hub in
      await hub[Listener.self].ask(combining: .all(), within: duration, absent: .counts(as: "late")
      ) { probe in
        if probe.name == "1" { await gate.pass() }
        return probe.name
      }
    }
  }

  @Test("The clock jumps")
  func clockJumps() {
    let slow = Recorder<String>()
    let stage = Stage { configuration in
      configuration.slowAfter = .seconds(10)
      configuration.on(.slow) { slow.record($0.subscriber) }
    }
    let probes = stage.cast(3)
    // Forward: whatever is not done is late, and slow.
    let first = Gate()
    let early = ask(within: .seconds(5), passing: first, on: stage)
    stage.advance(by: .seconds(4))
    #expect(early.result == nil)
    stage.advance(by: .seconds(3600))
    #expect(early.result == ["0", "late", "2"])
    #expect(slow.history.count == 1)
    stage.open(first)

    // Back: the deadline is as much farther off, and ends nothing that answers.
    let (second, third) = (Gate(), Gate())
    let late = ask(within: .seconds(5), passing: second, on: stage)
    let answered = ask(within: .seconds(5), passing: third, on: stage)
    let drained = stage.start { await $0.drain(within: .seconds(5)).subscribers.count }
    stage.advance(by: .seconds(-3600))
    stage.advance(by: .seconds(3604))
    #expect(late.result == nil)
    #expect(drained.result == nil)
    stage.open(third)
    #expect(answered.result == ["0", "1", "2"])
    stage.advance(by: .seconds(1))
    #expect(late.result == ["0", "late", "2"])
    #expect(drained.result == 1)

    // Notifications go by no clock.
    for number in 0..<10 {
      stage.hub[Listener.self].notify() { $0.log.record(number) }
      stage.clock.advance(by: .seconds(number % 2 == 0 ? -3600 : 3600))
    }
    stage.run()
    for probe in probes { #expect(probe.log.history == Array(0..<10)) }
    stage.open(second)
    #expect(stage.accounts == .init(handled: 30))
    #expect(stage.perform { await $0.drain() }?.isEmpty == true)
    stage.advance(by: .seconds(10))
    #expect(stage.alarms == 0)
    #expect(stage.clock.sleepers == 0)
  }

  /// A clock whose `sleep` fails at once.
  private struct SleeplessClock: Clock {
    var now: ManualClock.Instant { .init() }
    var minimumResolution: Duration { .zero }
    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
      throw Refusal()
    }
  }

  @Test("The clock cannot sleep")
  func clockCannotSleep() {
    let slow = Recorder<String>()
    let stage = Stage { configuration in
      configuration.clock = SleeplessClock()
      configuration.slowAfter = .seconds(10)
      configuration.on(.slow) { slow.record($0.subscriber) }
    }
    let probes = stage.cast(3)
    let gate = Gate()
    stage.hub[Listener.self].notify() { if $0.name == "1" { await gate.pass() } }
    stage.run()
    // Every deadline is now, whoever has been asked by then, and nobody is slow.
    #expect(ask(within: .seconds(5), passing: gate, on: stage).result?.dropFirst().first == "late")
    #expect(stage.perform { await $0.drain(within: .seconds(5)) }?.subscribers.count == 1)
    #expect(slow.history == [])
    stage.open(gate)
    #expect(stage.perform { await $0.drain(within: .seconds(5)) }?.isEmpty == true)
    #expect(stage.accounts == .init(handled: 3))
    withExtendedLifetime(probes) {}
  }

  @Test("The executor delays jobs, or changes their order", arguments: rounds(20))
  func executorDelays(seed: Int) {
    let executor = UnreliableExecutor(seed: UInt64(seed))
    let hub = DelegateHub(on: executor)
    let probes = Probe.many(5)
    let subscriptions = probes.map { hub.subscribe($0, to: Listener.self) }
    let answers = Recorder<[String]>()
    // Nobody is held up by what does not run.
    for number in 0..<20 {
      hub[Listener.self].notify() { probe in
        if number % 2 == 0 { await Task.yield() }
        probe.log.record(number)
      }
      Task(executorPreference: executor) {
        answers.record(await hub[Listener.self].ask(combining: .all()) { $0.name })
      }
      if number % 5 == 4 { executor.run() }
    }
    hub[Listener.self].notify() { $0.log.record(20) }
    subscriptions[4].cancel()
    #expect(probes.map(\.log.history) == Array(repeating: Array(0..<20), count: 5))
    executor.run()
    #expect(answers.history == Array(repeating: ["0", "1", "2", "3", "4"], count: 20))
    for probe in probes.dropLast() { #expect(probe.log.history == Array(0...20)) }
    #expect(probes[4].log.history == Array(0..<20))
    let counts = Recorder<DelegateHub.Statistics.Counts>()
    Task(executorPreference: executor) {
      #expect(await hub.drain().isEmpty)
      counts.record(await hub.accounts())
    }
    executor.run()
    #expect(counts.history == [.init(handled: 104, cancelled: 1)])
  }

  @Test("The executor loses jobs")
  func executorLoses() {
    let executor = UnreliableExecutor()
    let clock = ManualClock()
    let hub = DelegateHub { configuration in
      configuration.executor = executor
      configuration.clock = clock
    }
    let probes = Probe.many(2)
    let subscriptions = probes.map { hub.subscribe($0, to: Listener.self) }
    let results = Recorder<String>()
    @Sendable func perform(_ body: @escaping @Sendable () async -> String) {
      Task(executorPreference: executor) { results.record(await body()) }
      executor.run()
    }
    @Sendable func left() async -> String {
      await hub.drain(within: .seconds(5)).subscribers.map { "\($0.running) \($0.waiting)" }
        .joined(separator: ", ")
    }

    // A handler's own job: it has not returned, and never will.
    let gate = Gate()
    hub[Listener.self].notify() { if $0.name == "0" { await gate.pass() } }
    executor.run()
    executor.lose { gate.open() }
    perform(left)
    #expect(results.history == [])
    clock.advance(by: .seconds(5))
    executor.run()
    #expect(results.history == ["1 0"])

    // The hub's job: nothing is told any more, until somebody looks who is left.
    executor.lose { hub[Listener.self].notify() { $0.log.record(1) } }
    hub[Listener.self].notify() { $0.log.record(2) }
    perform(left)
    clock.advance(by: .seconds(5))
    executor.run()
    #expect(results.history.last == "1 2, 0 2")
    // Questions are asked all the same.
    perform { await hub[Listener.self].ask(combining: .all()) { $0.name }.joined() }
    #expect(results.history.last == "01")
    #expect(probes.map(\.log.history) == [[], []])

    for subscription in subscriptions { subscription.cancel() }
    perform { "\(await hub.accounts())" }
    #expect(
      results.history.last
        == "handled 1, failed 0, expired 0, dropped 0, cancelled 4, waiting 0, handling 1")
  }
}
