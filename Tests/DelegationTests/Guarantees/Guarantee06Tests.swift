import Delegation
import Dispatch
import Testing

@Suite("Guarantee 6: apart", .inTurn)
struct Guarantee06Tests {
  @Test("a long backlog of short handlers delays nobody: after 256 of them others go first")
  func backlogs() {
    // One thread, as if all others were taken as well.
    for (busy, posts) in [(1, 5_000), (2, 5_000), (800, 1)] {
      let (stage, calls) = (Stage(), Count())
      let probes = stage.cast(busy)
      for _ in 0..<posts { stage.listeners.notify { _ in calls.add(1) } }
      let late = Probe("late")
      stage.hub.subscribe(late, to: Bystander.self)
      stage.hub.bystanders.notify { $0.log.record(calls.value) }
      while late.log.history.isEmpty, stage.executor.runNext() {}
      let before = late.log.history.first ?? .max
      #expect(before <= 256 * (busy + 1) && before < busy * posts, "\(busy): after \(before)")
      stage.run()
      #expect(calls.value == busy * posts)
      withExtendedLifetime(probes) {}
    }
  }

  @Test("so does a loop over a stream with a long backlog, however it asks for the next event")
  func streamsBacklog() {
    for isLoop in [true, false] {
      let stage = Stage()
      let events = Events<Int>(of: stage.hub)
      let (stream, late, taken) = (events.stream(), Probe(), Count())
      for number in 0..<5_000 { events.post(number) }
      stage.hub.subscribe(late, to: Listener.self)
      let call = Task(executorPreference: stage.executor) {
        if isLoop { for await _ in stream { taken.add(1) } }
        while await stream.next() != nil { taken.add(1) }
      }
      stage.listeners.notify { $0.log.record(taken.value) }
      while late.log.history.isEmpty, stage.executor.runNext() {}
      #expect(late.log.history.allSatisfy { $0 <= 512 }, "\(late.log.history)")
      events.finish()
      stage.run()
      #expect(taken.value == 5_000)
      withExtendedLifetime(call) {}
    }
  }

  @Test("when all but one are suspended, that one is served")
  func allButOne() async {
    let (hub, gate) = (DelegateHub(), Gate())
    let probes = hub.cast(200)
    hub.listeners.notify { if $0.name != "100" { await gate.pass() } }
    await gate.arrivals(199)
    hub.listeners.notify { $0.log.record(1) }
    #expect(await probes[100].log.history(of: 1) == [1])
    gate.open()
    await hub.drain()
  }

  @Test("a poster is not held up though every thread of the hub is taken")
  func everyThreadTaken() async {
    let (hub, blockade) = (DelegateHub(on: ThreadPool(threads: 1)), Blockade())
    let probe = hub.cast(1)[0]
    hub.listeners.notify { _ in blockade.enter() }
    await blockade.entry()
    for number in 0..<100 { hub.listeners.notify { $0.log.record(number) } }
    hub.subscribe(Probe(), to: Listener.self).cancel()
    #expect(blockade.end() && hub.listeners.count == 1)
    await hub.drain()
    #expect(probe.log.history == Array(0..<100))
  }

  /// Whose executor stands still.
  enum Owner: CaseIterable { case caller, hub, subscriber }

  @Test(
    "an executor that stands still holds up those who need it, and nobody else",
    arguments: Owner.allCases, VisitorKind.allCases)
  func held(owner: Owner, caller: VisitorKind) async {
    // Nobody can suspend the main actor, and what runs in the caller's task stands still with it.
    let holds: [Lane.Hold] = caller == .mainActor ? [.blocked] : Lane.Hold.allCases
    let inTask: Set<Reach> = [.vote, .ask, .collect, .askInTurn, .pass]
    for (number, reach) in Reach.allCases.enumerated() {
      let hold = holds[number % holds.count]
      if owner == .caller, caller == .plain || inTask.contains(reach) { continue }
      await self.hold(hold, of: owner, during: reach, by: Visitor(caller), withinAHandler: false)
      // So does one that stands still in the midst of a handler.
      guard owner == .subscriber else { continue }
      await self.hold(hold, of: owner, during: reach, by: Visitor(caller), withinAHandler: true)
    }
  }

  private func hold(
    _ hold: Lane.Hold, of owner: Owner, during reach: Reach, by caller: Visitor,
    withinAHandler: Bool
  ) async {
    let lane = owner == .caller ? caller.lane! : Lane("held")
    let hub = DelegateHub(.init(executor: owner == .hub ? lane : nil, onIncident: { _ in }))
    let (called, returned, other) = (Recorder<String>(), Gate(), DelegateHub())
    let probes = ["before", "it", "after"].map { Probe($0) }
    for probe in probes {
      let isHeld = owner == .subscriber && probe.name == "it"
      hub.subscribe(probe, to: Listener.self, on: isHeld ? lane : nil)
    }
    for hub in [hub, other] { hub.subscribe(probes[0], to: Bystander.self) }
    if owner != .caller, !withinAHandler { lane.hold(hold) }
    let call = caller.perform { _ in
      if owner == .caller { lane.hold(hold) }
      await reach.call(hub) { probe in
        if withinAHandler, probe.name == "it" {
          lane.hold(hold)
          await Task.yield()
        }
        called.record(probe.name)
      }
      returned.arrive()
    }
    await lane.isHeld.arrivals()
    // All others get on; deadlines are by the real clock, and wait for nobody.
    for hub in owner == .hub ? [other] : [hub, other] {
      #expect(await hub.bystanders.vote { _ in true })
      #expect(await hub.bystanders.notifyAndWait { _ in }.isHandled)
    }
    _ = await hub.listeners.collect(within: .milliseconds(1)) { _ in }
    #expect(hub.statistics().protocols.count == 2 && hub.listeners.count == 3)
    _ = await hub.drain(within: .milliseconds(1))
    var reached: Set = ["before", "after"]
    if owner == .hub { reached = [] }
    if owner == .caller { reached.insert("it") }
    if reach == .askInTurn || reach == .pass { reached.remove("after") }
    #expect(Set(await called.history(of: reached.count)) == reached, "\(reach)")
    // A caller need not leave its executor for what is over already.
    let isWaiting = owner != .caller && reach != .notify && reach != .notifyAsynchronously
    if isWaiting { #expect(returned.arrived == 0) }
    #expect(lane.release(), "\(reach): somebody waited for the executor")
    await call.value
    #expect(await hub.drain().isEmpty)
  }
}
