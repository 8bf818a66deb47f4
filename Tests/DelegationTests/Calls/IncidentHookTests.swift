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
