import Testing

@testable import Delegation

@Suite("notifyAndWait from within handlers", .inTurn)
struct NotifyAndWaitReentrancyTests {
  @Test("from its own handler it waits for the others, and comes after the present one")
  func ownHandler() {
    let stage = Stage()
    let gate = Gate()
    let events = Recorder<String>()
    let (own, other) = (Probe("own"), Probe("other"))
    stage.hub.subscribe(own, to: Listener.self)
    stage.hub.subscribe(other, to: Listener.self)
    let hub = stage.hub
    hub[Listener.self].notify() { probe in
      guard probe.name == "own" else { return }
      await hub[Listener.self].notifyAndWait() { probe in
        if probe.name == "other" { await gate.pass() }
        events.record("\(probe.name) handles what own delivered")
      }
      events.record("own goes on")
    }
    stage.run()
    #expect(events.history == [])
    stage.open(gate)
    #expect(
      events.history == [
        "other handles what own delivered", "own goes on", "own handles what own delivered",
      ])
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  @Test("handlers that wait for the same protocol's subscribers of another hub are none of its")
  func anotherHub() {
    let stages = [Stage(), Stage()]
    let gates = [Gate(), Gate()]
    let events = Recorder<String>()
    let probes = stages.indices.map { number in
      let (stage, gate) = (stages[number], gates[number])
      let (own, other) = (Probe("own"), Probe("other"))
      stage.hub.subscribe(own, to: Listener.self)
      stage.hub.subscribe(other, to: Listener.self)
      let hub = stage.hub
      hub[Listener.self].notify() { probe in
        guard probe.name == "own" else { return }
        await hub[Listener.self].notifyAndWait() { probe in
          if probe.name == "other" { await gate.pass() }
        }
        events.record("own of \(number) goes on")
      }
      stage.run()
      return [own, other]
    }
    #expect(events.history == [])
    stages[1].open(gates[1])
    #expect(events.history == ["own of 1 goes on"])
    stages[0].open(gates[0])
    #expect(events.history == ["own of 1 goes on", "own of 0 goes on"])
    withExtendedLifetime(probes) {}
  }

  @Test("the only subscriber delivers to itself")
  func onlyItself() {
    let stage = Stage()
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self)
    let hub = stage.hub
    hub[Listener.self].notify() { probe in
      await hub[Listener.self].notifyAndWait() { $0.log.record(2) }
      probe.log.record(1)
    }
    stage.run()
    #expect(probe.log.history == [1, 2])
  }

  @Test("two handlers that deliver to each other both go on")
  func eachOther() {
    let stage = Stage()
    let bothRun = Gate()
    let (left, right) = (Probe("left"), Probe("right"))
    stage.hub.subscribe(left, to: Listener.self)
    stage.hub.subscribe(right, to: Bystander.self)
    let hub = stage.hub
    hub[Listener.self].notify() { probe in
      await bothRun.pass()
      await hub[Bystander.self].notifyAndWait() { $0.log.record(2) }
      probe.log.record(1)
    }
    hub[Bystander.self].notify() { probe in
      await bothRun.pass()
      await hub[Listener.self].notifyAndWait() { $0.log.record(2) }
      probe.log.record(1)
    }
    stage.run()
    #expect(bothRun.arrived == 2)
    stage.open(bothRun)
    #expect(left.log.history == [1, 2])
    #expect(right.log.history == [1, 2])
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  @Test("handlers of one protocol that all deliver to it all go on", arguments: [2, 3, 20])
  func amongThemselves(count: Int) async {
    let hub = DelegateHub()
    let allRun = Gate()
    let probes = Probe.many(count)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    hub[Listener.self].notify() { probe in
      await allRun.pass()
      await hub[Listener.self].notifyAndWait() { $0.log.record(1) }
      probe.log.record(0)
    }
    await allRun.arrivals(count)
    allRun.open()
    #expect(await hub.drain().isEmpty)
    for probe in probes {
      #expect(probe.log.history == [0] + Array(repeating: 1, count: count))
    }
  }

  @Test("a voter that is asked from a handler delivers to that handler's subscriber")
  func throughAVote() {
    let stage = Stage()
    let (own, voter) = (Probe("own"), Probe("voter"))
    stage.hub.subscribe(own, to: Listener.self)
    stage.hub.subscribe(voter, to: Bystander.self)
    let hub = stage.hub
    hub[Listener.self].notify() { probe in
      let isAgreed = await hub[Bystander.self].vote() { voter in
        await hub[Listener.self].notifyAndWait() { $0.log.record(2) }
        voter.log.record(1)
        return true
      }
      probe.log.record(isAgreed ? 1 : 0)
    }
    stage.run()
    #expect(voter.log.history == [1])
    #expect(own.log.history == [1, 2])
  }

  @Test("a voter delivers to the subscribers of its own protocol, itself included")
  func fromAVote() {
    let stage = Stage()
    let probes = stage.cast(3)
    let hub = stage.hub
    let vote = stage.perform { hub in
      await hub[Listener.self].vote() { probe in
        let number = Int(probe.name)!
        await hub[Listener.self].notifyAndWait() { $0.log.record(number) }
        return probe.log.history.contains(number)
      }
    }
    #expect(vote == true)
    #expect(Set(probes.map(\.log.history)) == [[0, 1, 2]])
    withExtendedLifetime(hub) {}
  }

  @Test("a task that a handler started delivers when the handler has returned")
  func afterTheHandler() {
    let stage = Stage()
    let gate = Gate()
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self)
    let (hub, executor) = (stage.hub, stage.executor)
    let delivered = Recorder<[Int]>()
    hub[Listener.self].notify() { probe in
      Task(executorPreference: executor) {
        await gate.pass()
        await hub[Listener.self].notifyAndWait() { $0.log.record(2) }
        delivered.record(probe.log.history)
      }
      probe.log.record(1)
    }
    stage.run()
    #expect(probe.log.history == [1])
    let second = Gate()
    hub[Listener.self].notify() { _ in await second.pass() }
    stage.open(gate)
    // That handler has returned, so this one is not its own and is waited for.
    #expect(delivered.history == [])
    stage.open(second)
    #expect(delivered.history == [[1, 2]])
  }
}
