import Testing

@testable import Delegation

@Suite("deliver", .inTurn)
struct DeliverTests {
  /// Starts a delivery that each records in its log as this number.
  private func deliver(_ number: Int, on stage: Stage) -> Stage.Act<Bool> {
    stage.start { hub in
      await hub[Listener.self].notifyAndWait() { $0.log.record(number) }
      return true
    }
  }

  @Test("it returns when all have handled it, those behind a suspended one included")
  func allHaveHandledIt() {
    let stage = Stage()
    let gates = [Gate(), Gate()]
    let probes = stage.cast(3)
    let delivery = stage.start { hub in
      await hub[Listener.self].notifyAndWait() { probe in
        if probe.name != "1" { await gates[probe.name == "0" ? 0 : 1].pass() }
        probe.log.record(1)
      }
      return probes.map(\.log.history)
    }
    #expect(probes.map(\.log.history) == [[], [1], []])
    #expect(delivery.result == nil)
    stage.open(gates[0])
    #expect(delivery.result == nil)
    stage.open(gates[1])
    #expect(delivery.result == [[1], [1], [1]])
  }

  @Test("it comes in the same order as notify")
  func order() async {
    let hub = DelegateHub()
    let probes = Probe.many(20)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    for round in 0..<20 {
      hub[Listener.self].notify() { $0.log.record(4 * round) }
      hub[Listener.self].notify() { probe in
        await Task.yield()
        probe.log.record(4 * round + 1)
      }
      await hub[Listener.self].notifyAndWait() { probe in
        await Task.yield()
        probe.log.record(4 * round + 2)
      }
      for probe in probes { #expect(probe.log.history == Array(0..<(4 * round + 3))) }
      hub[Listener.self].notify() { $0.log.record(4 * round + 3) }
    }
    await hub.drain()
  }

  @Test("it waits for what was posted before, and not for what was posted after")
  func beforeAndAfter() {
    let stage = Stage()
    let gates = [Gate(), Gate()]
    let probes = stage.cast(2)
    stage.hub[Listener.self].notify() { probe in
      await gates[0].pass()
      probe.log.record(0)
    }
    let delivery = deliver(1, on: stage)
    stage.hub[Listener.self].notify() { probe in
      await gates[1].pass()
      probe.log.record(2)
    }
    stage.run()
    #expect(delivery.result == nil)
    stage.open(gates[0])
    #expect(delivery.result == true)
    #expect(probes.map(\.log.history) == [[0, 1], [0, 1]])
    stage.open(gates[1])
    #expect(probes.map(\.log.history) == [[0, 1, 2], [0, 1, 2]])
  }

  @Test("nobody subscribed, nothing to wait for")
  func nobody() {
    let stage = Stage()
    #expect(deliver(1, on: stage).result == true)
    let probe = Probe()
    stage.hub.subscribe(probe, to: Bystander.self)
    #expect(deliver(1, on: stage).result == true)
    stage.hub.subscribe(probe, to: Listener.self).cancel()
    #expect(deliver(1, on: stage).result == true)
    #expect(probe.log.history == [])
  }

  @Test("those who have died do not hold it up")
  func dead() {
    let stage = Stage()
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self)
    for number in 0..<10 { stage.hub.subscribe(Probe("\(number)"), to: Listener.self) }
    #expect(deliver(1, on: stage).result == true)
    #expect(probe.log.history == [1])
  }

  @Test("one that dies before it has got to it does not hold it up")
  func dying() {
    let stage = Stage()
    let gate = Gate()
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self)
    var mortal: Probe? = Probe("mortal")
    if let mortal { stage.hub.subscribe(mortal, to: Listener.self) }
    stage.hub[Listener.self].notify() { if $0.name == "mortal" { await gate.pass() } }
    let delivery = deliver(1, on: stage)
    mortal = nil
    #expect(probe.log.history == [1])
    #expect(delivery.result == nil)
    stage.open(gate)
    #expect(delivery.result == true)
  }

  @Test("one that is removed before it has got to it does not hold it up")
  func leaving() {
    let stage = Stage()
    let gate = Gate()
    let (stays, leaves) = (Probe("stays"), Probe("leaves"))
    stage.hub.subscribe(stays, to: Listener.self)
    let subscription = stage.hub.subscribe(leaves, to: Listener.self)
    stage.hub[Listener.self].notify() { if $0.name == "leaves" { await gate.pass() } }
    let delivery = deliver(1, on: stage)
    #expect(delivery.result == nil)
    subscription.cancel()
    stage.run()
    #expect(delivery.result == true)
    stage.open(gate)
    #expect(stays.log.history == [1])
    #expect(leaves.log.history == [])
  }

  @Test("one that is removed while it handles it is waited for")
  func leavingWhileHandling() {
    let stage = Stage()
    let gate = Gate()
    let probe = Probe()
    let subscription = stage.hub.subscribe(probe, to: Listener.self)
    let delivery = stage.start { hub in
      await hub[Listener.self].notifyAndWait() { probe in
        await gate.pass()
        probe.log.record(1)
      }
      return true
    }
    subscription.cancel()
    stage.run()
    #expect(delivery.result == nil)
    stage.open(gate)
    #expect(delivery.result == true)
    #expect(probe.log.history == [1])
  }

  @Test("all leave at once, and it returns")
  func allLeave() {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(50)
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    let deliveries = (0..<3).map { deliver($0, on: stage) }
    #expect(deliveries.allSatisfy { $0.result == nil })
    stage.hub.unsubscribeAll(from: Listener.self)
    stage.run()
    #expect(deliveries.allSatisfy { $0.result == true })
    stage.open(gate)
    #expect(probes.allSatisfy { $0.log.history == [] })
  }

  @Test("one whose mailbox is full and drops it does not hold it up, newest or oldest")
  func dropping() {
    let stage = Stage()
    let gate = Gate()
    let (newest, oldest) = (Probe("drops newest"), Probe("drops oldest"))
    stage.hub.subscribe(newest, to: Listener.self, mailbox: .dropNewest(limit: 1))
    stage.hub.subscribe(oldest, to: Listener.self, mailbox: .dropOldest(limit: 1))
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.run()
    let first = deliver(1, on: stage)
    let second = deliver(2, on: stage)
    #expect(first.result == nil)
    #expect(second.result == nil)
    stage.open(gate)
    #expect(first.result == true)
    #expect(second.result == true)
    #expect(newest.log.history == [1])
    #expect(oldest.log.history == [2])
  }

  @Test("it returns at once when the only one that has yet to handle it drops it")
  func droppedByTheLast() {
    let stage = Stage()
    let gate = Gate()
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self, mailbox: .latest)
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.run()
    let delivery = deliver(1, on: stage)
    #expect(delivery.result == nil)
    stage.hub[Listener.self].notify() { $0.log.record(2) }
    stage.run()
    #expect(delivery.result == true)
    stage.open(gate)
    #expect(probe.log.history == [2])
  }

  @Test("one that throws has handled it")
  func throwing() {
    let reported = Recorder<String>()
    let stage = Stage {
      $0.on(.failed) { reported.record("\($0.subscriber) in \($0.call): \($0.reason)") }
    }
    let probes = stage.cast(3)
    let delivery = stage.start { hub in
      await hub[Listener.self].notifyAndWait() { probe in
        if probe.name == "1" { throw Refusal(reason: "not me") }
        probe.log.record(1)
      }
      return true
    }
    #expect(delivery.result == true)
    #expect(probes.map(\.log.history) == [[1], [], [1]])
    #expect(reported.history == ["DelegationTests.Probe in notifyAndWait: not me"])
  }

  @Test("a cancelled caller returns at once, and the notification goes on uncancelled")
  func cancelled() {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(3)
    let delivery = stage.start { hub in
      await hub[Listener.self].notifyAndWait() { probe in
        await gate.pass()
        probe.log.record(Task.isCancelled ? 0 : 1)
      }
      return Task.isCancelled
    }
    #expect(delivery.result == nil)
    delivery.cancel()
    stage.run()
    #expect(delivery.result == true)
    #expect(probes.map(\.log.history) == [[], [], []])
    stage.open(gate)
    #expect(probes.map(\.log.history) == [[1], [1], [1]])
  }

  @Test("a caller that was cancelled before posts it all the same, and returns at once")
  func cancelledBefore() {
    let stage = Stage()
    let gates = [Gate(), Gate()]
    let probes = stage.cast(2)
    let delivery = stage.start { hub in
      await gates[0].pass()
      await hub[Listener.self].notifyAndWait() { probe in
        await gates[1].pass()
        probe.log.record(1)
      }
      return true
    }
    delivery.cancel()
    stage.open(gates[0])
    #expect(delivery.result == true)
    #expect(probes.map(\.log.history) == [[], []])
    stage.open(gates[1])
    #expect(probes.map(\.log.history) == [[1], [1]])
  }

  @Test("it returns when a change of the mailbox's policy drops it")
  func droppedByAChange() {
    let stage = Stage()
    let probes = stage.cast(1)
    let gate = Gate()
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.run()
    let older = deliver(1, on: stage)
    let newer = deliver(2, on: stage)
    stage.hub.subscribe(probes[0], to: Listener.self, mailbox: .latest)
    stage.run()
    #expect(older.result != nil)
    #expect(newer.result == nil)
    stage.open(gate)
    #expect(newer.result != nil)
    #expect(probes[0].log.history == [2])
  }
}
