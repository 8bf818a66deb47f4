import Testing

@testable import Delegation

@Suite("Ids of subscribers", .inTurn)
struct SubscriberIDTests {
  @Test("it inherits what waited, in order, and nothing is counted as lost")
  func inheritance() {
    let stage = Stage()
    let gate = Gate()
    let (predecessor, successor) = (Probe("predecessor"), Probe("successor"))
    stage.hub.subscribe(predecessor, to: Listener.self, id: 1)
    for number in 0..<4 {
      stage.hub[Listener.self].notify() { probe in
        if number == 0 { await gate.pass() }
        probe.log.record(number)
      }
    }
    stage.run()
    stage.hub.subscribe(successor, to: Listener.self, id: 1)
    stage.hub[Listener.self].notify() { $0.log.record(4) }
    stage.run()
    #expect(successor.log.history == [1, 2, 3, 4])
    #expect(predecessor.log.history == [])
    stage.open(gate)
    #expect(predecessor.log.history == [0])
    #expect(
      stage.statistics.map { "\($0.counts) of \($0.addressed)" }
        == "handled 5, failed 0, expired 0, dropped 0, cancelled 0, waiting 0, handling 0 of 5")
  }

  @Test("it inherits from one that died, too, and under a limit of its own")
  func inheritanceFromTheDead() {
    let stage = Stage()
    var predecessor: Probe? = Probe("predecessor")
    if let predecessor { stage.hub.subscribe(predecessor, to: Listener.self, id: "x") }
    for number in 0..<5 { stage.hub[Listener.self].notify() { $0.log.record(number) } }
    predecessor = nil
    let successor = Probe("successor")
    stage.hub.subscribe(successor, to: Listener.self, id: "x", mailbox: .dropOldest(limit: 2))
    stage.run()
    #expect(successor.log.history == [3, 4])
    #expect(
      stage.statistics.map { "\($0.counts)" }
        == "handled 2, failed 0, expired 0, dropped 3, cancelled 0, waiting 0, handling 0")
  }

  @Test("a delivery waits for the successor in the predecessor's place")
  func delivery() {
    let stage = Stage()
    let gates = [Gate(), Gate()]
    let (predecessor, successor) = (Probe("predecessor"), Probe("successor"))
    stage.hub.subscribe(predecessor, to: Listener.self, id: 1)
    stage.hub[Listener.self].notify() { _ in await gates[0].pass() }
    let delivery = stage.start { hub in
      await hub[Listener.self].notifyAndWait() { probe in
        await gates[1].pass()
        probe.log.record(1)
      }
      return true
    }
    stage.hub.subscribe(successor, to: Listener.self, id: 1)
    stage.hub[Listener.self].notify() { _ in }
    stage.run()
    #expect(gates[1].arrived == 1)
    #expect(delivery.result == nil)
    stage.open(gates[1])
    #expect(delivery.result == true)
    #expect(successor.log.history == [1])
    stage.open(gates[0])
    #expect(predecessor.log.history == [])
  }

  @Test("what waited is handled by the successor though nothing more is posted")
  func withoutFurtherPosting() {
    let stage = Stage()
    let gate = Gate()
    let (predecessor, successor) = (Probe("predecessor"), Probe("successor"))
    stage.hub.subscribe(predecessor, to: Listener.self, id: 1)
    for number in 0..<3 {
      stage.hub[Listener.self].notify() { probe in
        if number == 0 { await gate.pass() }
        probe.log.record(number)
      }
    }
    stage.run()
    stage.hub.subscribe(successor, to: Listener.self, id: 1)
    stage.run()
    #expect(successor.log.history == [1, 2])
    stage.open(gate)
    #expect(predecessor.log.history == [0])
    #expect(stage.perform { await $0.drain(within: .zero).isEmpty } == true)
  }

  @Test("the subscription before has ended, and cancelling it does nothing to the present one")
  func handles() {
    let stage = Stage()
    let (predecessor, successor) = (Probe("predecessor"), Probe("successor"))
    let first = stage.hub.subscribe(predecessor, to: Listener.self, id: 1)
    let second = stage.hub.subscribe(successor, to: Listener.self, id: 1)
    #expect(!first.isActive)
    #expect(second.isActive)
    #expect(first != second)
    first.cancel()
    stage.hub.unsubscribe(predecessor)
    #expect(second.isActive)
    stage.hub[Listener.self].notify() { $0.log.record(1) }
    stage.run()
    #expect(successor.log.history == [1])
  }

  @Test("the same object with the same id keeps its subscription and changes its options")
  func sameObject() {
    let stage = Stage()
    let probes = Probe.many(2)
    let first = stage.hub.subscribe(probes[0], to: Listener.self, id: 1)
    stage.hub.subscribe(probes[1], to: Listener.self, id: 2)
    let second = stage.hub.subscribe(probes[0], to: Listener.self, priority: -1, id: 1)
    #expect(first == second)
    #expect(first.isActive)
    #expect(
      stage.perform { $0[Listener.self].subscribers.map(\.name) } == ["1", "0"])
  }

  @Test("one that the hub held is released when it is replaced")
  func heldAndReplaced() {
    let stage = Stage()
    let deaths = Recorder<String>()
    for name in ["predecessor", "successor"] {
      let probe = Probe(name, onDeath: { deaths.record(name) })
      stage.hub.subscribe(probe, to: Listener.self, id: 1, hold: .strongly)
    }
    #expect(deaths.history == ["predecessor"])
    stage.hub.unsubscribe(id: 1)
    #expect(deaths.history == ["predecessor", "successor"])
    stage.run()
  }

  @Test("an id is of one protocol; unsubscribing it ends it in all")
  func protocols() {
    let stage = Stage()
    let (one, other, third) = (Probe("one"), Probe("other"), Probe("third"))
    stage.hub.subscribe(one, to: Listener.self, id: 1)
    stage.hub.subscribe(other, to: Bystander.self, id: 1)
    stage.hub.subscribe(third, to: Listener.self, id: "1")
    stage.hub.subscribe(third, to: Bystander.self, id: 2)
    #expect(stage.perform { $0[Listener.self].count } == 2)
    #expect(stage.perform { $0[Bystander.self].count } == 2)
    stage.hub.unsubscribe(id: 1)
    stage.hub.unsubscribe(id: 3)
    #expect(
      stage.perform { $0[Listener.self].subscribers.map(\.name) } == ["third"])
    #expect(
      stage.perform { $0[Bystander.self].subscribers.map(\.name) } == ["third"])
    withExtendedLifetime((one, other)) {}
  }

  @Test("an object is unsubscribed whatever its ids")
  func byObject() {
    let stage = Stage()
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self, id: 1)
    stage.hub.subscribe(probe, to: Bystander.self, id: 2)
    stage.hub.unsubscribe(probe as any Listener, from: Listener.self)
    #expect(stage.perform { $0[Listener.self].count } == 0)
    #expect(stage.perform { $0[Bystander.self].count } == 1)
    stage.hub.unsubscribe(probe)
    #expect(stage.perform { $0[Bystander.self].count } == 0)
  }

  /// An id whose hash is that of all others, and which may call a hub when it is looked at.
  private struct Key: Hashable, Sendable {
    let value: Int
    var hub: DelegateHub?

    static func == (lhs: Key, rhs: Key) -> Bool {
      lhs.callHub()
      return lhs.value == rhs.value
    }

    func hash(into hasher: inout Hasher) { callHub() }

    private func callHub() {
      guard let hub else { return }
      let other = Probe("other")
      hub.subscribe(other, to: Listener.self, id: "a plain one")
      hub[Listener.self].notify() { $0.log.record(0) }
      hub[Bystander.self].notify() { $0.log.record(0) }
      hub.unsubscribe(other)
      hub.unsubscribe(id: "a plain one")
      hub.unsubscribeAll(from: Bystander.self)
    }
  }

  @Test("ids whose hashes are the same are told apart")
  func collisions() {
    let stage = Stage()
    let probes = Probe.many(20)
    for probe in probes {
      stage.hub.subscribe(probe, to: Listener.self, id: Key(value: Int(probe.name)!))
    }
    let successor = Probe("successor")
    stage.hub.subscribe(successor, to: Listener.self, id: Key(value: 3))
    stage.hub.unsubscribe(id: Key(value: 17))
    stage.hub.unsubscribe(id: Key(value: 99))
    var expected = probes.map(\.name)
    expected[3] = "successor"
    expected.remove(at: 17)
    #expect(
      stage.perform { $0[Listener.self].subscribers.map(\.name) } == expected)
  }

  @Test("an id that calls the hub when it is hashed or compared blocks nothing")
  func callingTheHub() {
    let stage = Stage()
    let probes = Probe.many(5)
    for probe in probes {
      let key = Key(value: Int(probe.name)!, hub: stage.hub)
      stage.hub.subscribe(probe, to: Listener.self, id: key)
    }
    let successor = Probe("successor")
    stage.hub.subscribe(successor, to: Listener.self, id: Key(value: 1, hub: stage.hub))
    stage.hub.unsubscribe(id: Key(value: 4, hub: stage.hub))
    #expect(
      stage.perform { $0[Listener.self].subscribers.map(\.name) }
        == ["0", "successor", "2", "3"])
    #expect(stage.perform { await $0.drain().isEmpty } == true)
    // Their ids hold the hub.
    stage.hub.unsubscribeAll(from: Listener.self)
    withExtendedLifetime(probes) {}
  }

  @Test("many that claim one id at the same time: one remains, and it is in the first one's place")
  func race() async throws {
    for _ in rounds(50) {
      let hub = DelegateHub()
      let (first, last) = (Probe("first"), Probe("last"))
      let claimants = Probe.many(8)
      hub.subscribe(first, to: Listener.self, id: Key(value: 0))
      hub.subscribe(last, to: Listener.self, id: Key(value: 1))
      await withTaskGroup { group in
        for probe in claimants {
          group.addTask { _ = hub.subscribe(probe, to: Listener.self, id: Key(value: 0)) }
        }
        for number in 0..<8 {
          group.addTask { hub[Listener.self].notify() { $0.log.record(number) } }
        }
      }
      await hub.drain()
      let names = hub[Listener.self].subscribers.map(\.name)
      try #require(names.count == 2)
      #expect(names.last == "last")
      #expect(claimants.map(\.name).contains(names[0]))
      // Each was handled once in the shared place, by whoever held it then, but for those that somebody
      // was about to handle when the place was taken: they are counted.
      let handled = ([first] + claimants).flatMap(\.log.history)
      #expect(Set(handled).count == handled.count)
      let counts = await hub.statistics().counts
      #expect(handled.count + counts.cancelled == 8, "\(handled), \(counts)")
      #expect(last.log.history.sorted() == Array(0..<8))
    }
  }
}
