import Delegation
import Testing

/// When it returns; what it returns beside what is left has a suite of its own.
@Suite("notifyAndWait", .inTurn)
struct NotifyAndWaitTests {
  /// Starts a delivery that each records in its log as this number.
  private func deliver(
    _ number: Int, on stage: Stage, within duration: Duration? = nil
  ) -> Stage.Act<DelegateHub.Outcome> {
    stage.start { hub in
      await hub[Listener.self].notifyAndWait(within: duration) { $0.log.record(number) }
    }
  }

  /// A subscriber of its own hub whose handler tells the next one, and waits.
  private final class Link: Listener {
    let name = "link"
    let log = Recorder<Int>()
    let hub = DelegateHub()
    let next: Link?

    init(before next: Link?) {
      self.next = next
      hub.subscribe(self, to: Listener.self)
    }

    func tell() async -> Int {
      await hub.listeners.notifyAndWait {
        guard let link = $0 as? Link, let next = link.next else { return }
        link.log.record(await next.tell())
      }.handled
    }
  }

  @Test("nested thousands deep in handlers it takes little stack")
  func nested() async {
    var links: [Link] = []
    for _ in 0..<3_000 { links.append(Link(before: links.last)) }
    _ = await links.last?.tell()
    // It need not wait for the next one's handler, which waits itself.
    for link in links.reversed() { await link.hub.drain() }
    #expect(links.dropFirst().allSatisfy { $0.log.count == 1 })
    // In this order: to release a chain of them is nested, too.
    while !links.isEmpty { links.removeLast() }
  }

  @Test("no handler begins on its caller's actor; who is cancelled beforehand tells all the same")
  @MainActor
  func elsewhere() async {
    let (hub, threads) = (DelegateHub(), Recorder<Bool>())
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    let main = Platform.threadID
    await hub.listeners.notifyAndWait { _ in threads.record(Platform.threadID == main) }
    #expect(threads.history == [false])
    let left = await Task.detached {
      withUnsafeCurrentTask { $0?.cancel() }
      return await hub.listeners.notifyAndWait { _ in }
    }.value
    await hub.drain()
    #expect(left.addressed == 1)
    withExtendedLifetime(probe) {}
  }

  @Test("it waits for what was posted before, and not for what was posted after")
  func beforeAndAfter() {
    let stage = Stage()
    let gates = [Gate(), Gate()]
    let probes = stage.cast(2)
    func post(_ number: Int, at gate: Gate) {
      stage.hub[Listener.self].notify { probe in
        await gate.pass()
        probe.log.record(number)
      }
    }
    post(0, at: gates[0])
    let delivery = deliver(1, on: stage)
    post(2, at: gates[1])
    stage.run()
    #expect(delivery.result == nil)
    stage.open(gates[0])
    #expect(delivery.result?.isHandled == true && probes.map(\.log.history) == [[0, 1], [0, 1]])
    stage.open(gates[1])
    #expect(probes.map(\.log.history) == [[0, 1, 2], [0, 1, 2]])
  }

  /// How a subscriber gets past a notification that waits behind another one's handler.
  enum Way: CaseIterable {
    case handles, dies, isCancelled, isUnsubscribed, allLeave, drops, dropsByAChange, throwsAnError
  }

  @Test("whoever gets past it otherwise does not hold it up", arguments: Way.allCases)
  func gettingPast(way: Way) {
    let stage = Stage { $0.onIncident = { _ in } }
    let (gate, stays) = (Gate(), Probe("stays"))
    stage.hub.subscribe(stays, to: Listener.self)
    var leaves: Probe? = Probe("leaves")
    let subscription = leaves.map {
      stage.hub.subscribe($0, to: Listener.self, mailbox: way == .drops ? .latest : nil)
    }
    stage.hub[Listener.self].notify { if $0.name == "leaves" { await gate.pass() } }
    stage.run()
    let delivery = stage.start { hub in
      await hub[Listener.self].notifyAndWait {
        if way == .throwsAnError, $0.name == "leaves" { throw Refusal() }
        $0.log.record(1)
      }
    }
    #expect(stays.log.history == [1] && delivery.result == nil)
    switch way {
    case .handles, .throwsAnError: stage.open(gate)
    case .dies:
      leaves = nil
      // It lives as long as its handler runs.
      stage.open(gate)
    case .isCancelled: subscription?.cancel()
    case .isUnsubscribed: if let leaves { stage.hub.unsubscribe(leaves) }
    case .allLeave: stage.hub[Listener.self].unsubscribeAll()
    case .drops: stage.hub[Listener.self].notify { _ in }
    case .dropsByAChange:
      stage.hub[Listener.self].notify { _ in }
      if let leaves { stage.hub.subscribe(leaves, to: Listener.self, mailbox: .latest) }
    }
    stage.run()
    let outcome = delivery.result
    #expect(outcome?.left.isEmpty == true && outcome?.addressed == 2)
    #expect(outcome?.handled == (way == .handles ? 2 : 1))
    #expect(outcome?.failed == (way == .throwsAnError ? 1 : 0))
    #expect(outcome?.missed == (way == .handles || way == .throwsAnError ? 0 : 1))
    stage.open(gate)
    withExtendedLifetime((stays, leaves)) {}
  }

  @Test("one that is removed while it handles it is waited for, and has handled it")
  func leavingWhileHandling() {
    let stage = Stage()
    let (gate, probe) = (Gate(), Probe())
    let subscription = stage.hub.subscribe(probe, to: Listener.self)
    let delivery = stage.start { hub in
      await hub[Listener.self].notifyAndWait { probe in
        await gate.pass()
        probe.log.record(1)
      }
    }
    subscription.cancel()
    stage.run()
    #expect(delivery.result == nil)
    stage.open(gate)
    #expect(delivery.result?.isHandled == true && probe.log.history == [1])
  }

  /// What ends it early.
  enum End: CaseIterable { case deadline, cancellation, cancellationBefore }

  @Test("it returns early with who has yet to get past it, and they go on", arguments: End.allCases)
  func early(end: End) throws {
    let stage = Stage()
    let probes = stage.cast(4)
    let (start, early, gate) = (Gate(), Gate(), Gate())
    // "1" handles an older notification still, "2" this one.
    stage.hub[Listener.self].notify { if $0.name == "1" { await early.pass() } }
    let call = stage.start { hub in
      if end == .cancellationBefore { await start.pass() }
      return await hub[Listener.self].notifyAndWait(within: .seconds(5)) { probe in
        if probe.name == "2" { await gate.pass() }
        probe.log.record(Task.isCancelled ? 0 : 1)
      }
    }
    switch end {
    case .deadline:
      stage.advance(by: .seconds(4))
      #expect(call.result == nil)
      stage.advance(by: .seconds(1))
    case .cancellation:
      #expect(call.result == nil)
      call.cancel()
    case .cancellationBefore:
      call.cancel()
      stage.open(start)
    }
    stage.run()
    let left = try #require(call.result).left
    // Who was cancelled before has posted it all the same, and has not waited.
    if end != .cancellationBefore {
      #expect(left.subscribers.map(\.running) == [1, 1])
      #expect(left.subscribers.map(\.waiting) == [1, 0])
    }
    #expect(probes.map(\.log.history) == [[1], [], [], [1]])
    stage.open(early)
    stage.open(gate)
    #expect(probes.map(\.log.history) == [[1], [1], [1], [1]] && stage.clock.sleepers == 0)
  }

  @Test("from its own handler it waits for the others, and comes after the present one")
  func ownHandler() {
    let stage = Stage()
    let gate = Gate()
    let events = Recorder<String>()
    let (own, other) = (Probe("own"), Probe("other"))
    for probe in [own, other] { stage.hub.subscribe(probe, to: Listener.self) }
    let hub = stage.hub
    hub[Listener.self].notify { probe in
      guard probe.name == "own" else { return }
      let outcome = await hub[Listener.self].notifyAndWait { probe in
        if probe.name == "other" { await gate.pass() }
        events.record("\(probe.name) handles what own delivered")
      }
      events.record("own goes on, without \(outcome.left.subscribers.count)")
    }
    stage.run()
    #expect(events.history == [])
    stage.open(gate)
    #expect(
      events.history == [
        "other handles what own delivered", "own goes on, without 1",
        "own handles what own delivered",
      ])
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  @Test("its workers have the caller's priority, if that is higher; those of notify do not")
  func priority() async {
    let hub = DelegateHub()
    let seen = Recorder<TaskPriority>()
    hub.cast(2)
    hub.cast(1, on: ThreadPool(threads: 1))
    for (priority, expected) in [
      (TaskPriority.high, TaskPriority.high), (.medium, .medium), (.background, .medium),
    ] {
      let gate = Gate()
      await Task.detached(priority: priority) {
        _ = await hub[Listener.self].notifyAndWait { probe in
          seen.record(Task.currentPriority)
          // Each needs a worker of its own.
          if probe.name == "1" { gate.open() } else { await gate.pass() }
        }
      }.value
      #expect(seen.clear() == [expected, expected, expected])
      await Task.detached(priority: priority) {
        hub[Listener.self].notify { _ in seen.record(Task.currentPriority) }
      }.value
      await hub.drain()
      #expect(seen.clear() == [.medium, .medium, .medium])
    }
  }
}
