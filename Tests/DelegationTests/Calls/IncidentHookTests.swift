import Delegation
import Testing

@Suite("The incident hook", .inTurn)
struct IncidentHookTests {
  @Test("it is called for one at a time, in their order, may call the hub, and drain waits for it")
  func hook() async {
    let (told, running) = (Recorder<Int>(), Count())
    let held = Recorder<DelegateHub>()
    let hub = DelegateHub(
      .init(
        executor: ThreadPool(threads: 3),
        onIncident: { incident in
          running.add(1)
          #expect(running.value == 1)
          if let hub = held.history.first { hub[Bystander.self].notify { $0.log.record(1) } }
          told.record(Int(incident.reason) ?? -1)
          running.add(-1)
        }))
    held.record(hub)
    let bystander = Probe()
    hub.cast(1)
    hub.subscribe(bystander, to: Bystander.self)
    for round in 0..<100 {
      for number in 0..<5 {
        hub[Listener.self].notify { _ in throw Refusal(reason: "\(round * 5 + number)") }
      }
      #expect(await hub.drain().isEmpty)
      #expect(told.history.count == (round + 1) * 5)
      #expect(bystander.log.history.count == (round + 1) * 5)
    }
    #expect(told.history == Array(0..<500))
    held.clear()
  }

  @Test("while 256 wait, further ones are counted in the last", arguments: [0, 1, 50])
  func bounded(more: Int) {
    let still = ManualExecutor()
    let (told, others) = (Recorder<DelegateHub.Incident>(), Recorder<Int>())
    let hub = DelegateHub(
      .init(
        executor: still,
        onIncident: { incident in
          told.record(incident)
          let count = told.count
          Task.detached(executorPreference: still) { others.record(count) }
        }))
    // Its handlers run elsewhere, so the hook finds them all waiting.
    let own = ManualExecutor()
    hub.cast(1, on: own)
    let events = Events<Int>(of: hub)
    events.registry.observe(on: own) { throw Refusal(reason: "\($0)") }
    // Of two protocols: after so many of one its worker lets others run.
    for number in 0..<200 {
      hub[Listener.self].notify { _ in throw Refusal(reason: "\(number)") }
    }
    for number in 200..<(256 + more) { events.post(number) }
    // The hub's executor has to bring the subscribers to their own, once.
    while own.pending < 2 { still.runNext() }
    own.run()
    still.run()
    own.run()
    still.run()
    #expect(told.history.map(\.reason) == (0..<256).map { "\($0)" })
    #expect(told.history.map(\.leftOut) == Array(repeating: 0, count: 255) + [more])
    if more > 0 {
      #expect(
        told.history.last?.description.hasSuffix(" (\(more) more incidents left out)") == true)
    }
    #expect(others.history.first == 1)
  }

  /// Those whose error no caller gets.
  private static let swallowing = CallForm.allCases.filter {
    $0.isNotification
      || !$0.rawValue.hasPrefix("collect")
        && ["Absent", "Within"].contains(where: $0.rawValue.contains)
  }

  @Test(
    "what failed is named by the id that it was called under, though its subscription has ended",
    arguments: swallowing)
  func failedUnderItsID(form: CallForm) async {
    for isReplaced in [false, true] {
      for others in [0, 2] {
        let (told, former, newer) = (Recorder<String>(), Probe("former"), Other())
        // What the hub has others do is done at once.
        let hub = DelegateHub { configuration in
          configuration.executor = PromptExecutor()
          configuration.on(.failed) { told.record($0.subscriber) }
        }
        hub.cast(others)
        hub.subscribe(former, to: Listener.self, priority: 1, id: "seat")
        _ = await form(hub[Listener.self]) { probe in
          guard probe.name == "former" else { return }
          if isReplaced { hub.subscribe(newer, to: Listener.self, id: "seat") }
          hub.unsubscribe(probe)
          throw Refusal()
        }
        await hub.drain()
        #expect(told.history == ["DelegationTests.Probe (seat)"], "\(isReplaced), \(others)")
      }
    }
  }

  /// Another type, so that its name is another one.
  private final class Other: Listener {
    let name = "newer"
    let log = Recorder<Int>()
  }

  @Test("so is one that was slow, and one whose mailbox has dropped something")
  func othersUnderTheirIDs() {
    let (told, stuck, gate, probe) = (Recorder<String>(), ManualExecutor(), Gate(), Probe())
    let stage = Stage { configuration in
      configuration.slowAfter = .seconds(1)
      configuration.onIncident = { told.record("\($0.kind) \($0.subscriber)") }
    }
    let slow = stage.hub.subscribe(probe, to: Listener.self, id: 1, on: stuck)
    stage.hub[Listener.self].notify { _ in await gate.pass() }
    stage.run()
    stuck.run()
    stage.clock.advance(by: .seconds(1))
    while stage.alarms > 0 { stage.executor.runNext() }
    // It is being told that it is slow, and meanwhile ends.
    gate.open()
    stuck.run()
    slow.cancel()
    stage.run()
    #expect(told.history == ["slow DelegationTests.Probe (1)"])
    let full = stage.hub.subscribe(
      probe, to: Listener.self, id: 2, mailbox: .dropOldest(limit: 2), on: stuck)
    Task(executorPreference: PromptExecutor()) { [hub = stage.hub] in
      await hub[Listener.self].notifyAndWait { _ in }
      // While the rest of what was dropped is released.
      full.cancel()
    }
    for _ in 0..<3 { stage.hub[Listener.self].notify { _ in } }
    stage.run()
    #expect(told.history.last == "dropped DelegationTests.Probe (2)")
    stuck.run()
  }

  @Test("it is told though the hub is released")
  func released() {
    let (told, executor) = (Recorder<String>(), ManualExecutor())
    func play() -> Obituary {
      let hub = DelegateHub(
        .init(executor: executor, onIncident: { told.record("\($0.kind) \($0.reason)") }))
      hub.cast(1)
      hub[Listener.self].notify { _ in throw Refusal(reason: "last") }
      return Obituary(of: hub)
    }
    let hub = play()
    executor.run()
    #expect(told.history == ["failed last"] && hub.isDead)
  }

  @Test("by default it is a line on standard error, and beyond 20 a second one for all")
  func standardErrorByDefault() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let (hub, reported) = (DelegateHub(), Gate())
      StandardError.passOn { if $0.contains("more incidents") { reported.open() } }
      hub.subscribe(
        Probe(), to: Listener.self, id: 7, hold: .strongly, fileID: "Shop/Cart.swift", line: 12)
      for number in 0..<1000 {
        hub[Listener.self].notify { _ in throw Refusal(reason: "\(number)\n") }
        // No more wait than the hub keeps.
        if number % 100 == 99 { await hub.drain() }
      }
      // In the line at the end of the second, by the real clock.
      await reported.pass()
    }
    let lines = standardError(of: result).split(separator: "\n")
    #expect(
      lines.first.map(String.init)
        == "DelegateHub: DelegationTests.Probe (7), subscribed to DelegationTests.Listener at "
        + "Shop/Cart.swift:12, failed in notify: Refusal(reason: \"0\\n\")")
    // On a busy machine the handlers take longer than a second.
    #expect(lines.count > 20)
    #expect(lines.prefix(20).allSatisfy { $0.hasPrefix("DelegateHub: DelegationTests.Probe") })
    #expect(lines.contains { $0.hasPrefix("DelegateHub: and ") && $0.hasSuffix(" more incidents") })
  }
}
