import Delegation
import Testing

/// The rows of the documentation's table of faults that are about handlers and incidents, by their names there.
@Suite("Faults: handlers that do not return as they should, and who hears of it", .inTurn)
struct FaultHandlerTests {
  let gate = Gate()
  let told = Recorder<String>()

  /// A hub that writes down its incidents, with three subscribers, at places with their numbers.
  private func makeStage(slowAfter: Duration? = nil) -> Stage {
    let stage = Stage { [told] in
      $0.onIncident = { told.record("\($0.kind) in \($0.call) at \($0.site)") }
      $0.slowAfter = slowAfter
    }
    for probe in Probe.many(3) {
      stage.hub.subscribe(
        probe, to: Listener.self, hold: .strongly, fileID: "site", line: UInt(probe.name)!)
    }
    return stage
  }

  @Test("A handler throws")
  func handlerThrows() {
    let stage = makeStage()
    let handle: @Sendable (any Listener) throws(Refusal) -> Bool = { probe throws(Refusal) in
      probe.log.record(1)
      if probe.name == "1" { throw Refusal() }
      return true
    }
    stage.listeners.notify { _ = try handle($0) }
    stage.listeners.notify { $0.log.record(2) }
    stage.run()
    #expect(stage.listeners.subscribers.allSatisfy { $0.log.history == [1, 2] })
    #expect(stage.counted == counts(handled: 5, failed: 1))
    let error = stage.perform { hub in
      do throws(Refusal) {
        return "\(try await hub.listeners.vote { p throws(Refusal) in try handle(p) })"
      } catch {
        return "thrown \(error.reason)"
      }
    }
    #expect(error == "thrown ")
    #expect(throws: Refusal()) { try stage.listeners.forEach { _ = try handle($0) } }
    let votes = [DelegateHub.Absence.counts(as: false), .abstains].map { absence in
      stage.perform { await $0.listeners.vote(absent: absence) { try handle($0) } }
    }
    #expect(votes == [false, true])
    let replies = stage.perform { await $0.listeners.collect { try handle($0) } }
    #expect(replies?.map { $0.error == nil } == [true, false, true])
    #expect(
      told.history == [
        "failed in notify at site:1", "failed in vote at site:1", "failed in vote at site:1",
      ])
  }

  @Test("A handler hangs for ever")
  func handlerHangs() throws {
    let stage = makeStage(slowAfter: .seconds(1))
    let probes = stage.listeners.subscribers
    stage.listeners.notify { [gate] in if $0.name == "1" { await gate.pass() } }
    for number in 0..<100 { stage.listeners.notify { $0.log.record(number) } }
    stage.run()
    stage.hub.subscribe(probes[1] as! Probe, to: Bystander.self)
    let elsewhere = stage.perform { await $0.bystanders.notifyAndWait { $0.log.record(-1) } }
    #expect(elsewhere?.isHandled == true, "another protocol's are not held up")
    stage.advance(by: .seconds(1))
    for place in [0, 2] { #expect(probes[place].log.history == Array(0..<100)) }
    #expect(told.history == ["slow in notify at site:1"])
    let answers = stage.start { [gate] hub in
      await hub.listeners.ask(combining: .all(), within: .seconds(5), absent: .counts(as: "late")) {
        if $0.name == "1" { await gate.pass() }
        return $0.name
      }
    }
    let drain = stage.start { await $0.drain(within: .seconds(5)) }
    stage.advance(by: .seconds(5))
    #expect(answers.result == ["0", "late", "2"] && told.history.contains("late in ask at site:1"))
    let hung = try #require(drain.result?.subscribers.first)
    #expect(hung.site == "site:1" && hung.running == 2 && hung.waiting == 100)
    hung.subscription.cancel()
    stage.open(gate)
    #expect(probes[1].log.history == [-1] && stage.counted == counts(handled: 204, cancelled: 100))
  }

  @Test("A handler blocks its thread")
  func handlerBlocks() async {
    let (clock, blockade) = (ManualClock(), Blockade())
    let hub = DelegateHub(clock, on: ThreadPool(threads: 3))
    let probes = hub.cast(3)
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
}
