import Delegation
import Testing

/// The rows of the documentation's table of faults that are about handlers and incidents, by their names there.
@Suite("Faults: handlers that do not return as they should, and who hears of it", .inTurn)
struct FaultHandlerTests {
  let clock = ManualClock()
  let gate = Gate()
  let told = Recorder<String>()

  /// A hub that writes down its incidents, with three subscribers, at places with their numbers.
  private func makeHub(on executor: (any TaskExecutor)? = nil, slowAfter: Duration? = nil)
    -> DelegateHub
  {
    let hub = DelegateHub(
      .init(
        executor: executor, clock: clock,
        onIncident: { [told] in told.record("\($0.kind) in \($0.call) at \($0.site)") },
        slowAfter: slowAfter))
    for probe in Probe.many(3) {
      hub.subscribe(
        probe, to: Listener.self, hold: .strongly, fileID: "site", line: UInt(probe.name)!)
    }
    return hub
  }

  @Test("A handler throws")
  func handlerThrows() async {
    let hub = makeHub()
    let handle: @Sendable (any Listener) throws(Refusal) -> Bool = { probe throws(Refusal) in
      probe.log.record(1)
      if probe.name == "1" { throw Refusal() }
      return true
    }
    hub.listeners.notify { _ = try handle($0) }
    await hub.listeners.notifyAndWait { $0.log.record(2) }
    #expect(hub.listeners.subscribers.allSatisfy { $0.log.history == [1, 2] })
    #expect(hub.counted == counts(handled: 5, failed: 1))
    await #expect(throws: Refusal()) {
      try await hub.listeners.vote { p throws(Refusal) in try handle(p) }
    }
    #expect(throws: Refusal()) { try hub.listeners.forEach { _ = try handle($0) } }
    #expect(await !hub.listeners.vote(absent: .counts(as: false)) { try handle($0) })
    #expect(await hub.listeners.vote(absent: .abstains) { try handle($0) })
    let replies = await hub.listeners.collect { try handle($0) }
    #expect(replies.map { $0.error == nil } == [true, false, true])
    await hub.drain()
    #expect(
      told.history == [
        "failed in notify at site:1", "failed in vote at site:1", "failed in vote at site:1",
      ])
  }

  @Test("A handler hangs for ever")
  func handlerHangs() async throws {
    let hub = makeHub(slowAfter: .seconds(1))
    let probes = hub.listeners.subscribers
    hub.listeners.notify { [gate] in if $0.name == "1" { await gate.pass() } }
    for number in 0..<100 { hub.listeners.notify { $0.log.record(number) } }
    for place in [0, 2] { #expect(await probes[place].log.history(of: 100) == Array(0..<100)) }
    await gate.arrivals()
    let told = told
    #expect(await passingTime { await told.history(of: 1) } == ["slow in notify at site:1"])
    let answers = Task { [gate] in
      await hub.listeners.ask(combining: .all(), within: .seconds(5), absent: .counts(as: "late")) {
        probe in
        if probe.name == "1" { await gate.pass() }
        return probe.name
      }
    }
    await gate.arrivals(2)
    // An answer after the deadline would be late.
    while hub.statistics().questions.answered < 2 { await Task.yield() }
    #expect(await passingTime { await answers.value } == ["0", "late", "2"])
    #expect(told.history.contains("late in ask at site:1"))
    let left = await passingTime { await hub.drain(within: .seconds(5)) }
    let hung = try #require(left.subscribers.first)
    #expect(hung.site == "site:1" && hung.running == 2 && hung.waiting == 100)
    hung.subscription.cancel()
    gate.open()
    await hub.drain()
    #expect(probes[1].log.history == [] && hub.counted == counts(handled: 203, cancelled: 100))
  }

  /// Lets time pass until a call has returned.
  private func passingTime<Result: Sendable>(_ call: @Sendable () async -> Result) async -> Result {
    let time = Task { [clock] in
      while !Task.isCancelled {
        clock.advance(by: .seconds(5))
        await Task.yield()
      }
    }
    let result = await call()
    time.cancel()
    // It may be about to let more time pass, which is not to be that of the next call.
    await time.value
    return result
  }

  @Test("A handler blocks its thread")
  func handlerBlocks() async {
    let (hub, blockade) = (makeHub(on: ThreadPool(threads: 3)), Blockade())
    let probes = hub.listeners.subscribers
    hub.listeners.notify { if $0.name == "1" { blockade.enter() } }
    await blockade.entry()
    for number in 0..<10 { hub.listeners.notify { $0.log.record(number) } }
    for place in [0, 2] { #expect(await probes[place].log.history(of: 10) == Array(0..<10)) }
    async let answers = hub.listeners.ask(
      combining: .all(), within: .seconds(1), absent: .counts(as: "late")
    ) { [gate] probe in
      if probe.name == "1" { await gate.pass() }
      return probe.name
    }
    await gate.arrivals()
    while hub.statistics().questions.answered < 2 { await Task.yield() }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(1))
    #expect(await answers == ["0", "late", "2"])
    gate.open()
    #expect(blockade.end())
    #expect(await hub.drain().isEmpty)
    #expect(hub.counted == counts(handled: 33))
  }

  @Test("A handler is cancelled while it runs")
  func handlerIsCancelled() async {
    let (hub, begun) = (makeHub(), Gate())
    let probe = hub.listeners.subscribers[1]
    hub.listeners.notify { [gate] probe in
      guard probe.name == "1" else { return }
      await gate.pass()
      probe.log.record(Task.isCancelled ? -1 : 1)
    }
    hub.listeners.notify { if $0.name == "1" { $0.log.record(2) } }
    await gate.arrivals()
    // A decided vote cancels it, and does not wait for it.
    let outcome = await hub.listeners.vote { [gate] probe in
      guard probe.name == "1" else {
        await begun.arrivals()
        return false
      }
      await withTaskCancellationHandler {
        begun.arrive()
        await gate.pass()
      } onCancel: {
        probe.log.record(3)
      }
      return true
    }
    #expect(!outcome)
    #expect(await probe.log.history(of: 1) == [3])
    // Its subscription's end lets it run on, and discards what waits behind it.
    hub.unsubscribe(probe)
    async let ended = hub.unsubscribeAndWait(probe)
    gate.open()
    #expect(await ended.isEmpty)
    await hub.drain()
    #expect(probe.log.history == [3, 1] && hub.counted == counts(handled: 5, cancelled: 1))
  }

  @Test("The closure of onIncident blocks")
  func hookBlocks() async {
    let (blockade, reasons) = (Blockade(), Recorder<String>())
    let hub = DelegateHub(
      .init(
        executor: ThreadPool(threads: 3),
        onIncident: { incident in
          reasons.record(incident.reason)
          if incident.reason == "first" { blockade.enter() }
        }))
    let probe = hub.cast(1)[0]
    await hub.listeners.notifyAndWait { _ in throw Refusal(reason: "first") }
    await blockade.entry()
    // It stands still, and everything else goes on.
    #expect(await hub.listeners.vote(absent: .abstains) { _ in throw Refusal(reason: "second") })
    await hub.listeners.notifyAndWait { _ in throw Refusal(reason: "third") }
    for number in 0..<10 { hub.listeners.notify { $0.log.record(number) } }
    #expect(await probe.log.history(of: 10) == Array(0..<10))
    #expect(reasons.history == ["first"] && blockade.end())
    #expect(await hub.drain().isEmpty)
    #expect(reasons.history == ["first", "second", "third"])
  }

  @Test("Nobody keeps a subscriber")
  func nobodyKeepsIt() async {
    let hub = DelegateHub(
      .init(onIncident: { [told] in told.record("\($0.kind) in \($0.call) at \($0.site)") }))
    do {
      hub.subscribe(Probe("bouncer"), to: Listener.self, fileID: "Door.swift", line: 7)
      hub.subscribe(Probe("cook"), to: Bystander.self, fileID: "Kitchen.swift", line: 8)
    }
    #expect(await hub.listeners.vote { _ in false }, "it lets everybody in")
    #expect(await !hub.listeners.vote(by: .unanimous(ofAtLeast: 1)) { _ in true })
    for _ in 0..<3 { hub.bystanders.notify { _ in } }
    await hub.drain()
    #expect(
      told.history.filter { $0.hasPrefix("unheard") }
        == ["unheard in vote at Door.swift:7", "unheard in notify at Kitchen.swift:8"])
    // What is posted after the first one has found it dead is posted to nobody.
    #expect((1...3).contains(hub.counted.expired))
  }

  @Test("A subscriber is late")
  func subscriberIsLate() async {
    let hub = makeHub()
    async let outcome = hub.listeners.vote(within: .seconds(1), absent: .counts(as: false)) {
      [gate] probe in
      if probe.name != "1" { await gate.pass() }
      return true
    }
    await gate.arrivals(2)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(1))
    #expect(await !outcome)
    #expect(await told.history(of: 2) == ["late in vote at site:0", "late in vote at site:2"])
    #expect(hub.statistics().questions.answering == 2)
    gate.open()
    await hub.drain()
    #expect(hub.statistics().protocols[0].subscribers.map(\.questions.late) == [1, 0, 1])
    #expect(told.count == 2)
  }
}
