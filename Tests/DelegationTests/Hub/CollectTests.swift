import Testing

@testable import Delegation

@Suite("collect", .inTurn)
struct CollectTests {
  @Test("everyone's own result comes in the order of subscription, whoever answers first")
  func order() {
    let stage = Stage()
    let gates = (0..<20).map { _ in Gate() }
    let answered = Recorder<String>()
    let probes = stage.cast(20)
    let collect = stage.start { hub in
      await hub[Listener.self].collect() { probe in
        await gates[Int(probe.name)!].pass()
        answered.record(probe.name)
        return "I am \(probe.name)"
      }
    }
    for gate in gates.reversed() {
      #expect(collect.result == nil)
      stage.open(gate)
    }
    #expect(answered.history == probes.map(\.name).reversed())
    #expect(collect.result?.map { try? $0.result.get() } == probes.map { "I am \($0.name)" })
  }

  @Test("the order is that of priorities first")
  func priorities() {
    let stage = Stage()
    let probes = Probe.many(4)
    for (probe, priority) in zip(probes, [0, 5, -1, 5]) {
      stage.hub.subscribe(probe, to: Listener.self, priority: priority)
    }
    let replies = stage.perform { await $0[Listener.self].collect() { $0.name } }
    #expect(replies?.map { try? $0.result.get() } == ["1", "3", "0", "2"])
    withExtendedLifetime(probes) {}
  }

  @Test("all are asked side by side, and nobody waits for another")
  func sideBySide() {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(300)
    let collect = stage.start { hub in
      await hub[Listener.self].collect() { _ in await gate.pass() }.count
    }
    #expect(gate.arrived == 300)
    #expect(collect.result == nil)
    stage.open(gate)
    #expect(collect.result == 300)
    withExtendedLifetime(probes) {}
  }

  @Test("an error is the result of the one that threw it, and cancels nobody")
  func errors() {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(4)
    let collect = stage.start { hub in
      await hub[Listener.self].collect() { probe in
        if probe.name == "0" { throw Refusal(reason: "at once") }
        await gate.pass()
        if Task.isCancelled { throw CancellationError() }
        if probe.name == "2" { throw Refusal(reason: "at last") }
        return probe.name
      }
    }
    #expect(collect.result == nil)
    stage.open(gate)
    let replies = collect.result ?? []
    #expect(replies.map { try? $0.result.get() } == [nil, "1", nil, "3"])
    #expect(
      replies.map { $0.error as? Refusal }
        == [Refusal(reason: "at once"), nil, Refusal(reason: "at last"), nil])
    withExtendedLifetime(probes) {}
  }

  @Test("those who are late have timed out; results and errors of the others stay")
  func late() {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(4)
    let collect = stage.start { hub in
      await hub[Listener.self].collect(within: .seconds(1)) { probe in
        if probe.name == "2" { throw Refusal(reason: "no") }
        if probe.name != "1" { await gate.pass() }
        return probe.name
      }
    }
    #expect(collect.result == nil)
    stage.advance(by: .seconds(1))
    let replies = collect.result ?? []
    #expect(replies.map { try? $0.result.get() } == [nil, "1", nil, nil])
    #expect(
      replies.map { $0.error as? DelegateHub.ReplyError } == [.timedOut, nil, nil, .timedOut])
    #expect(replies.map { $0.error as? Refusal } == [nil, nil, Refusal(reason: "no"), nil])
    #expect(
      "\(DelegateHub.ReplyError.timedOut)" == "the subscriber had not answered at the deadline")
    stage.open(gate)
    withExtendedLifetime(probes) {}
  }

  @Test("those who died or were removed before they were asked have no reply")
  func missing() {
    let stage = Stage()
    var mortal: Probe? = Probe("mortal")
    let stays = Probe.many(2)
    let removed = Probe("removed")
    stage.hub.subscribe(stays[0], to: Listener.self)
    if let mortal { stage.hub.subscribe(mortal, to: Listener.self) }
    stage.hub.subscribe(removed, to: Listener.self)
    stage.hub.subscribe(stays[1], to: Listener.self)
    mortal = nil
    for duration: Duration? in [nil, .seconds(1)] {
      let replies = stage.perform { hub in
        await hub[Listener.self].collect(within: duration) { probe in
          hub.unsubscribe(removed)
          return probe.name
        }
      }
      #expect(replies?.map { try? $0.result.get() } == ["0", "1"])
    }
    withExtendedLifetime(stays) {}
  }

  @Test("one that dies or is removed while it answers has its reply")
  func leavingWhileAnswering() {
    let stage = Stage()
    let gate = Gate()
    let deaths = Recorder<String>()
    var mortal: Probe? = Probe("mortal", onDeath: { deaths.record("died") })
    let removed = Probe("removed")
    if let mortal { stage.hub.subscribe(mortal, to: Listener.self) }
    stage.hub.subscribe(removed, to: Listener.self)
    let collect = stage.start { hub in
      await hub[Listener.self].collect() { probe in
        await gate.pass()
        return probe.name
      }
    }
    mortal = nil
    stage.hub.unsubscribe(removed)
    #expect(deaths.history == [])
    stage.open(gate)
    #expect(collect.result?.map { try? $0.result.get() } == ["mortal", "removed"])
    #expect(deaths.history == ["died"])
  }

  @Test("a reply names the subscriber's type and its id")
  func names() {
    let stage = Stage()
    let probe = Probe()
    let module = Module()
    stage.hub.subscribe(probe, to: Listener.self)
    stage.hub.subscribe(module, to: Listener.self, id: "quota 7")
    let replies = stage.perform { await $0[Listener.self].collect() { $0.name } }
    #expect(
      replies?.map(\.subscriber) == [
        "DelegationTests.Probe", "DelegationTests.CollectTests.Module (quota 7)",
      ])
    withExtendedLifetime((probe, module)) {}
  }

  final class Module: Listener {
    let name = "module"
    let log = Recorder<Int>()
  }

  @Test("nobody subscribed, no replies")
  func nobody() {
    let replies = Stage().perform { await $0[Listener.self].collect() { $0.name } }
    #expect(replies?.isEmpty == true)
  }

  @Test("a cancelled caller cancels the handlers, and gets what they make of it")
  func cancelled() {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(3)
    let collect = stage.start { hub in
      await hub[Listener.self].collect() { probe in
        if probe.name == "0" { return "early" }
        await gate.pass()
        try Task.checkCancellation()
        return "not cancelled"
      }
    }
    collect.cancel()
    stage.run()
    #expect(collect.result == nil)
    stage.open(gate)
    let replies = collect.result ?? []
    #expect(replies.map { try? $0.result.get() } == ["early", nil, nil])
    #expect(replies.map { $0.error is CancellationError } == [false, true, true])
    withExtendedLifetime(probes) {}
  }
}
