import Dispatch
import Testing

@testable import Delegation

@Suite("Guarantee 10: deadline and threads", .inTurn)
struct Guarantee10ThreadTests {
  @Test(
    "the deadline holds against one that blocks its thread while the pool has another",
    arguments: [0, 5, 9])
  func blocked(place: Int) async {
    let clock = ManualClock()
    let hub = makeHub(clock, on: ThreadPool(threads: 2))
    let semaphore = DispatchSemaphore(value: 0)
    let blocked = Gate()
    let probes = Probe.many(10)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    async let names = hub[Listener.self].ask(combining: .all(), within: .seconds(1), absent: .counts(as: "late")
    ) { probe in
      if probe.name == "\(place)" {
        blocked.arrive()
        semaphore.wait()
      } else {
        probe.log.record(1)
      }
      return probe.name
    }
    await blocked.arrivals()
    for (number, probe) in probes.enumerated() where number != place {
      #expect(await probe.log.history(of: 1) == [1])
    }
    #expect(await clock.alarms() == [.seconds(1)])
    // An answer after the deadline would be late.
    while await hub.statistics().questions.answered < 9 { await Task.yield() }
    clock.advance(by: .seconds(1))
    var expected = probes.map(\.name)
    expected[place] = "late"
    #expect(await names == expected)
    semaphore.signal()
    #expect(await hub.drain().isEmpty)
  }

  @Test("a caller that runs where its handlers run is not blocked in their place")
  func callerOnTheSamePool() async {
    let clock = ManualClock()
    let pool = ThreadPool(threads: 2)
    let hub = makeHub(clock, on: pool)
    let semaphore = DispatchSemaphore(value: 0)
    let blocked = Gate()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    let vote = Task(executorPreference: pool) {
      await hub[Listener.self].vote(within: .seconds(1), absent: .counts(as: false)) { _ in
        blocked.arrive()
        semaphore.wait()
        return true
      }
    }
    await blocked.arrivals()
    _ = await clock.alarms()
    clock.advance(by: .seconds(1))
    #expect(await vote.value == false)
    semaphore.signal()
    #expect(await hub.drain().isEmpty)
  }

  @Test("those who have not begun at the deadline are never called")
  func notBegun() {
    let stage = Stage()
    let elsewhere = ManualExecutor()
    let (here, there) = (Probe("here"), Probe("there"))
    stage.hub.subscribe(here, to: Listener.self)
    stage.hub.subscribe(there, to: Listener.self, on: elsewhere)
    let ask = stage.start { hub in
      await hub[Listener.self].ask(combining: .all(), within: .seconds(1), absent: .counts(as: "late")
      ) { probe in
        probe.log.record(1)
        return probe.name
      }
    }
    stage.advance(by: .seconds(1))
    #expect(ask.result == ["here", "late"])
    elsewhere.run()
    #expect(here.log.history == [1])
    #expect(there.log.history == [])
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  @Test("a cancelled caller gets what the handlers answer, and the deadline stays")
  func cancelledCaller() {
    let stage = Stage()
    let gate = Gate()
    let cancelled = Recorder<String>()
    let probes = stage.cast(3)
    let ask = stage.start { hub in
      await hub[Listener.self].ask(combining: .all(), within: .seconds(1), absent: .counts(as: "late")
      ) { probe in
        await withTaskCancellationHandler {
          if probe.name == "1" { await gate.pass() }
        } onCancel: {
          cancelled.record(probe.name)
        }
        return probe.name
      }
    }
    ask.cancel()
    stage.run()
    #expect(cancelled.history == ["1"])
    #expect(ask.result == nil)
    stage.advance(by: .seconds(1))
    #expect(ask.result == ["0", "late", "2"])
    stage.open(gate)
    withExtendedLifetime(probes) {}
  }

  @Test("the deadline goes by the real clock unless another is configured")
  func realClock() async {
    let hub = DelegateHub()
    let gate = Gate()
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    // All hang: on a busy machine one that answers at once might be late as well.
    let elapsed = await ContinuousClock().measure {
      let replies = await hub[Listener.self].collect(within: .milliseconds(500)) { probe in
        await gate.pass()
        return probe.name
      }
      #expect(replies.map { try? $0.result.get() } == [nil, nil, nil])
    }
    // No upper bound: on a busy machine it would measure that. If it did not hold, this would hang.
    #expect(elapsed >= .milliseconds(500))
    gate.open()
    await hub.drain()
  }

  @Test("a negative deadline counts as zero: a server that is late goes on")
  func negative() async {
    let hub = DelegateHub()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    let minute = Duration.seconds(-60)
    let isPassed = await hub[Listener.self].vote(within: minute, absent: .counts(as: false)) {
      $0.log.record(1)
      return true
    }
    #expect(!isPassed)
    let names = await hub[Listener.self].ask(combining: .all(), within: minute, absent: .counts(as: "late")
    ) { $0.name }
    #expect(names == ["late"])
    let replies = await hub[Listener.self].collect(within: .nanoseconds(-1)) { $0.name }
    for reply in replies {
      #expect(throws: DelegateHub.ReplyError.timedOut) { try reply.result.get() }
    }
    #expect(replies.count == 1)
    let name = await hub[Listener.self].askInTurn(within: minute, absent: .counts(as: "late")) {
      $0.name
    }
    #expect(name == "late")
    let passed = await hub[Listener.self].pass("v", eachWithin: minute, absent: .abstains
    ) { $1 + $0.name }
    #expect(passed == "v")
    #expect(probe.log.history == [])
  }

  private func makeHub(_ clock: ManualClock, on executor: any TaskExecutor) -> DelegateHub {
    var configuration = DelegateHub.Configuration()
    configuration.clock = clock
    configuration.executor = executor
    return DelegateHub(configuration)
  }
}
