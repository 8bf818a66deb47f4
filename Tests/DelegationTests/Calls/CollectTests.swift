import Delegation
import Testing

@Suite("collect", .inTurn)
struct CollectTests {
  @Test(
    "everyone's own result comes in the order of priorities, then of subscription, whoever answers first"
  )
  func order() {
    let stage = Stage()
    let gates = (0..<20).map { _ in Gate() }
    let answered = Recorder<String>()
    let probes = Probe.many(20)
    let subscriptions = probes.map {
      stage.hub.subscribe($0, to: Listener.self, priority: $0.name == "7" ? 1 : 0, id: $0.name)
    }
    let collect = stage.start { hub in
      await hub[Listener.self].collect { probe in
        await gates[Int(probe.name)!].pass()
        answered.record(probe.name)
        return "I am \(probe.name)"
      }
    }
    // All are asked side by side.
    #expect(gates.allSatisfy { $0.arrived == 1 })
    for gate in gates.reversed() {
      #expect(collect.result == nil)
      stage.open(gate)
    }
    #expect(answered.history == probes.map(\.name).reversed())
    let order = [7] + (0..<20).filter { $0 != 7 }
    #expect(collect.result?.map { try? $0.result.get() } == order.map { "I am \($0)" })
    // A reply carries the subscription, its type and its id.
    #expect(collect.result?.map(\.subscription) == order.map { subscriptions[$0] })
    #expect(collect.result?.first?.subscriber == "DelegationTests.Probe (7)")
  }

  @Test(
    "an error is the result of the one that threw it, and cancels nobody; who is late has timed out"
  )
  func errors() {
    let stage = Stage { $0.onIncident = { _ in } }
    let (gate, never) = (Gate(), Gate())
    let probes = stage.cast(5)
    let collect = stage.start { hub in
      await hub[Listener.self].collect(within: .seconds(1)) { probe in
        if probe.name == "0" { throw Refusal(reason: "at once") }
        await (probe.name == "4" ? never : gate).pass()
        if Task.isCancelled { throw CancellationError() }
        if probe.name == "2" { throw Refusal(reason: "at last") }
        return probe.name
      }
    }
    stage.open(gate)
    #expect(collect.result == nil)
    stage.advance(by: .seconds(1))
    let replies = collect.result ?? []
    #expect(replies.map { try? $0.result.get() } == [nil, "1", nil, "3", nil])
    let errors = replies.map { reply -> (any Error)? in
      if case .failure(let error) = reply.result { error } else { nil }
    }
    #expect(
      errors.map { $0 as? Refusal }
        == [Refusal(reason: "at once"), nil, Refusal(reason: "at last"), nil, nil])
    #expect(errors.last.map { $0 as? DelegateHub.ReplyError } == .timedOut)
    #expect(
      "\(DelegateHub.ReplyError.timedOut)" == "the subscriber had not answered at the deadline")
    stage.open(never)
    withExtendedLifetime(probes) {}
  }

  @Test(
    "those who died or were removed before they were asked have no reply, those who leave while they answer do",
    arguments: [nil, Duration.seconds(1)])
  func leaving(duration: Duration?) {
    let stage = Stage { $0.onIncident = { _ in } }
    let gate = Gate()
    let deaths = Recorder<String>()
    let stays = Probe("stays")
    var mortals = ["before", "while"].map { name in
      Probe(name, onDeath: { deaths.record(name) })
    }
    let removed = ["removed before", "removed while"].map { Probe($0) }
    for probe in [mortals[0], removed[0], stays, mortals[1], removed[1]] {
      stage.hub.subscribe(probe, to: Listener.self)
    }
    mortals.removeFirst()
    stage.hub.unsubscribe(removed[0])
    let collect = stage.start { hub in
      await hub[Listener.self].collect(within: duration) { probe in
        await gate.pass()
        return probe.name
      }
    }
    mortals = []
    stage.hub.unsubscribe(removed[1])
    #expect(deaths.history == ["before"])
    stage.open(gate)
    #expect(
      collect.result?.map { try? $0.result.get() } == ["stays", "while", "removed while"])
    #expect(deaths.history == ["before", "while"])
    withExtendedLifetime(stays) {}
  }

  @Test("a cancelled caller cancels the handlers, and gets what they make of it")
  func cancelled() {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(3)
    let collect = stage.start { hub in
      await hub[Listener.self].collect { probe in
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
    #expect(collect.result?.map { try? $0.result.get() } == ["early", nil, nil])
    withExtendedLifetime(probes) {}
  }
}
