import Dispatch
import Testing

@testable import Delegation

@Suite("Slow handlers", .inTurn)
struct SlowHandlerTests {
  /// A hub whose handlers are slow after a second of its clock.
  private final class Watched: Sendable {
    let clock = ManualClock()
    let reported = Recorder<String>()
    let hub: DelegateHub

    init(on executor: (any TaskExecutor)? = nil) {
      var configuration = DelegateHub.Configuration()
      configuration.clock = clock
      configuration.executor = executor
      configuration.slowAfter = .seconds(1)
      configuration.on(.slow) { [reported] in reported.record("\($0.subscriber) of \($0.site)") }
      hub = DelegateHub(configuration)
    }
  }

  @Test("a slow handler is reported while it runs, with its subscriber and where that subscribed")
  func notification() async {
    let watched = Watched()
    let gate = Gate()
    let probe = Probe()
    let line = #line + 1
    watched.hub.subscribe(probe, to: Listener.self, id: "audit")
    watched.hub[Listener.self].notify() { _ in await gate.pass() }
    await gate.arrivals()
    #expect(await watched.clock.alarms() == [.seconds(1)])
    watched.clock.advance(by: .milliseconds(999))
    #expect(watched.clock.sleepers == 1)
    #expect(watched.reported.history == [])
    watched.clock.advance(by: .milliseconds(1))
    #expect(
      await watched.reported.history(of: 1) == [
        "DelegationTests.Probe (audit) of DelegationTests/SlowHandlerTests.swift:\(line)"
      ])
    gate.open()
    await watched.hub.drain()
  }

  @Test("so is one of a question", arguments: Reach.asking)
  func question(reach: Reach) async {
    let watched = Watched(on: ThreadPool(threads: 2))
    let semaphore = DispatchSemaphore(value: 0)
    let begun = Gate()
    let probe = Probe()
    watched.hub.subscribe(probe, to: Listener.self, fileID: "Shop/Cart.swift", line: 5)
    let call = Task {
      await reach(watched.hub, suspending: false) { _ in
        begun.arrive()
        semaphore.wait()
      }
    }
    await begun.arrivals()
    while watched.reported.history.isEmpty {
      watched.clock.advance(by: .seconds(1))
      await Task.yield()
    }
    #expect(watched.reported.history == ["DelegationTests.Probe of Shop/Cart.swift:5"])
    semaphore.signal()
    await call.value
    await watched.hub.drain()
  }

  @Test("so is a synchronous one that blocks its thread")
  func blocked() async {
    let watched = Watched(on: ThreadPool(threads: 2))
    let semaphore = DispatchSemaphore(value: 0)
    let (blocked, quick) = (Probe("blocked"), Probe("quick"))
    watched.hub.subscribe(blocked, to: Listener.self, fileID: "blocked", line: 1)
    watched.hub.subscribe(quick, to: Listener.self, fileID: "quick", line: 2)
    watched.hub[Listener.self].notify() { probe in
      probe.log.record(1)
      if probe.name == "blocked" { semaphore.wait() }
    }
    _ = await (blocked.log.history(of: 1), quick.log.history(of: 1))
    while watched.reported.history.isEmpty {
      watched.clock.advance(by: .seconds(1))
      await Task.yield()
    }
    semaphore.signal()
    await watched.hub.drain()
    #expect(watched.reported.history == ["DelegationTests.Probe of blocked:1"])
  }

  @Test("it is reported once, however long it runs, and again when it is slow again")
  func once() async {
    let watched = Watched()
    let gates = (0..<3).map { _ in Gate() }
    let (first, second) = (Probe("first"), Probe("second"))
    watched.hub.subscribe(first, to: Listener.self, fileID: "first", line: 1)
    watched.hub.subscribe(second, to: Bystander.self, fileID: "second", line: 2)
    watched.hub[Listener.self].notify() { _ in await gates[0].pass() }
    _ = await watched.clock.alarms()
    watched.clock.advance(by: .seconds(1))
    _ = await watched.reported.history(of: 1)
    // The watch goes on for the second: what it has to say of the first, it would say here.
    watched.hub[Bystander.self].notify() { _ in await gates[1].pass() }
    #expect(await watched.clock.alarms() == [.seconds(2)])
    watched.clock.advance(by: .seconds(1))
    #expect(
      await watched.reported.history(of: 2) == [
        "DelegationTests.Probe of first:1", "DelegationTests.Probe of second:2",
      ])
    gates[0].open()
    watched.hub[Listener.self].notify() { _ in await gates[2].pass() }
    await gates[2].arrivals()
    #expect(await watched.clock.alarms() == [.seconds(3)])
    watched.clock.advance(by: .seconds(1))
    #expect(await watched.reported.history(of: 3).last == "DelegationTests.Probe of first:1")
    for gate in gates { gate.open() }
    await watched.hub.drain()
    #expect(watched.reported.history.count == 3)
  }

  @Test("quick ones are not reported, and nobody watches when nothing runs")
  func quick() async {
    let watched = Watched()
    let gate = Gate()
    let probes = Probe.many(10)
    for probe in probes {
      watched.hub.subscribe(probe, to: Listener.self, fileID: "quick", line: 1)
    }
    let slow = Probe()
    watched.hub.subscribe(slow, to: Bystander.self, fileID: "slow", line: 2)
    watched.hub[Bystander.self].notify() { _ in await gate.pass() }
    _ = await watched.clock.alarms()
    for number in 0..<20 {
      watched.hub[Listener.self].notify() { $0.log.record(number) }
      watched.hub[Listener.self].notify() { _ in await Task.yield() }
      _ = await watched.hub[Listener.self].vote() { _ in true }
    }
    for probe in probes { #expect(await probe.log.history(of: 20).count == 20) }
    await watched.hub[Listener.self].notifyAndWait() { _ in }
    watched.clock.advance(by: .seconds(1))
    #expect(await watched.reported.history(of: 1) == ["DelegationTests.Probe of slow:2"])
    gate.open()
    await watched.hub.drain()
    await watched.clock.silence()
    #expect(watched.reported.history == ["DelegationTests.Probe of slow:2"])
  }

  @Test("one that begins during a watch is noticed before it has run for twice the time")
  func beforeTwice() async {
    let watched = Watched()
    let gate = Gate()
    let (early, late) = (Probe("early"), Probe("late"))
    watched.hub.subscribe(early, to: Listener.self, fileID: "early", line: 1)
    watched.hub.subscribe(late, to: Bystander.self, fileID: "late", line: 2)
    watched.hub[Listener.self].notify() { _ in await gate.pass() }
    _ = await watched.clock.alarms()
    watched.clock.advance(by: .milliseconds(500))
    watched.hub[Bystander.self].notify() { _ in await gate.pass() }
    await gate.arrivals(2)
    watched.clock.advance(by: .milliseconds(500))
    #expect(await watched.clock.alarms() == [.seconds(2)])
    // The hook is called by a task of its own.
    #expect(await watched.reported.history(of: 1) == ["DelegationTests.Probe of early:1"])
    watched.clock.advance(by: .milliseconds(999))
    #expect(watched.clock.sleepers == 1)
    watched.clock.advance(by: .milliseconds(1))
    #expect(await watched.reported.history(of: 2).last == "DelegationTests.Probe of late:2")
    gate.open()
    await watched.hub.drain()
  }

  @Test("the watch runs where all the hub's work runs")
  func executor() {
    let reported = Recorder<String>()
    let stage = Stage { configuration in
      configuration.slowAfter = .seconds(1)
      configuration.on(.slow) { reported.record($0.subscriber) }
    }
    let gate = Gate()
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self)
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.run()
    #expect(stage.clock.sleepers == 1)
    stage.advance(by: .seconds(1))
    #expect(reported.history == ["DelegationTests.Probe"])
    stage.open(gate)
    withExtendedLifetime(probe) {}
  }

  @Test("by the real clock the watch does not need the hub's executor, which may be busy")
  func busyExecutor() async {
    let executor = ManualExecutor()
    let reported = Recorder<String>()
    let hub = DelegateHub { configuration in
      configuration.executor = executor
      configuration.slowAfter = .milliseconds(1)
      configuration.on(.slow) { reported.record($0.subscriber) }
    }
    let gate = Gate()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    hub[Listener.self].notify() { _ in await gate.pass() }
    executor.run()
    // From here on the executor does nothing. The one job that comes is that of the report, unless it came before.
    while executor.pendingJobs == 0, reported.history.isEmpty { await Task.yield() }
    if reported.history.isEmpty { executor.runNext() }
    #expect(reported.history == ["DelegationTests.Probe"])
    gate.open()
    executor.run()
    withExtendedLifetime(probe) {}
  }

  @Test("nothing of the watch is left behind when the hub is released, nor its clock")
  func released() async {
    weak var leftClock: ManualClock?
    do {
      let watched = Watched()
      leftClock = watched.clock
      let probe = Probe()
      watched.hub.subscribe(probe, to: Listener.self)
      await watched.hub[Listener.self].notifyAndWait() { [clock = watched.clock] _ in
        await clock.waitForSleepers()
      }
      await watched.hub.drain()
      withExtendedLifetime(probe) {}
    }
    // The watch's task ends in its own time.
    for _ in 0..<1_000_000 {
      if leftClock == nil { break }
      await Task.yield()
    }
    #expect(leftClock == nil)
  }

  @Test("without slowAfter nobody watches")
  func unwatched() {
    let reported = Recorder<String>()
    let stage = Stage { $0.on(.slow) { reported.record($0.subscriber) } }
    let gate = Gate()
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self)
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.run()
    #expect(stage.clock.sleepers == 0)
    stage.advance(by: .seconds(1_000_000))
    #expect(reported.history == [])
    stage.open(gate)
    withExtendedLifetime(probe) {}
  }

  @Test("nor with a limit that never comes")
  func never() {
    let configuration = DelegateHub.Configuration(slowAfter: Deadline.farthest)
    let hub = DelegateHub(configuration)
    #expect(hub.slowWatch == nil)
  }

  @Test("by default a slow handler is one line on standard error, by the real clock")
  func standardErrorByDefault() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      var configuration = DelegateHub.Configuration()
      configuration.slowAfter = .milliseconds(1)
      let hub = DelegateHub(configuration)
      let probe = Probe()
      hub.subscribe(probe, to: Listener.self, fileID: "Shop/Cart.swift", line: 5)
      // The handler is slow until it has been reported, however long that takes.
      let reported = Gate()
      StandardError.passOn { if $0.hasSuffix("\n") { reported.open() } }
      hub[Listener.self].notify() { _ in await reported.pass() }
      await hub.drain()
      withExtendedLifetime(probe) {}
    }
    #expect(
      standardError(of: result)
        == "DelegateHub: DelegationTests.Probe, subscribed to DelegationTests.Listener at "
        + "Shop/Cart.swift:5, is slow in notify\n")
  }

  @Test("a slowAfter of zero or less stops the program, and says why")
  func zero() async {
    let zero = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var configuration = DelegateHub.Configuration()
      configuration.slowAfter = .zero
      _ = DelegateHub(configuration)
    }
    #expect(said(zero, "slowAfter is 0.0 seconds, by which every handler would be slow."))
    let negative = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var configuration = DelegateHub.Configuration()
      configuration.slowAfter = .seconds(-1)
      _ = DelegateHub(configuration)
    }
    #expect(said(negative, "slowAfter is -1.0 seconds"))
  }
}
