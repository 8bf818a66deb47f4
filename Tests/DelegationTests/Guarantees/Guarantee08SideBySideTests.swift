import Testing

@testable import Delegation

@Suite("Guarantee 8: asked side by side", .inTurn)
struct Guarantee08SideBySideTests {
  @Test("all are suspended in their answers at the same time", arguments: [1, 2, 10, 300])
  func together(count: Int) async {
    let hub = DelegateHub()
    let gate = Gate()
    let probes = Probe.many(count)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    async let vote = hub[Listener.self].vote() { _ in
      await gate.pass()
      return true
    }
    async let answers = hub[Listener.self].ask(combining: .all()) { probe in
      await gate.pass()
      return probe.name
    }
    // Would one wait for another, these would never be complete.
    await gate.arrivals(2 * count)
    gate.open()
    #expect(await vote)
    #expect(await answers == probes.map(\.name))
  }

  @Test("answers that come in any order are given in the order of subscription")
  func anyOrder() async {
    for _ in rounds(10) {
      let hub = DelegateHub()
      let gates = (0..<20).map { _ in Gate() }
      let answered = Recorder<String>()
      let probes = Probe.many(20)
      for probe in probes { hub.subscribe(probe, to: Listener.self) }
      async let answers = hub[Listener.self].ask(combining: .all()) { probe in
        await gates[Int(probe.name)!].pass()
        answered.record(probe.name)
        return probe.name
      }
      let order = Array(0..<20).shuffled()
      for (place, number) in order.enumerated() {
        await gates[number].arrivals()
        gates[number].open()
        _ = await answered.history(of: place + 1)
      }
      #expect(await answers == probes.map(\.name))
      #expect(answered.history == order.map(String.init))
    }
  }

  @Test("those who answer at once are not held up by those who suspend, and the other way round")
  func mixed() async {
    let hub = DelegateHub()
    let gate = Gate()
    let answered = Recorder<String>()
    let probes = Probe.many(50)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    async let answers = hub[Listener.self].ask(combining: .all()) { probe in
      if Int(probe.name)! % 3 == 0 { await gate.pass() } else { answered.record(probe.name) }
      return probe.name
    }
    await gate.arrivals(17)
    #expect(await answered.history(of: 33).count == 33)
    gate.open()
    #expect(await answers == probes.map(\.name))
  }

  @Test("actors are asked side by side, each on itself")
  func actors() async {
    let hub = DelegateHub()
    let gate = Gate()
    let voters = (0..<50).map { Voter($0, gate) }
    for voter in voters { hub.subscribe(voter, to: Answering.self) }
    async let answers = hub[Answering.self].ask(combining: .all()) { await $0.answer() }
    await gate.arrivals(50)
    gate.open()
    #expect(await answers == Array(0..<50))
  }

  @Test("a vote within a vote is asked side by side, too")
  func nested() async {
    let hub = DelegateHub()
    let gate = Gate()
    let probes = Probe.many(5)
    for probe in probes {
      hub.subscribe(probe, to: Listener.self)
      hub.subscribe(probe, to: Bystander.self)
    }
    async let answers = hub[Listener.self].ask(combining: .all()) { outer in
      await hub[Bystander.self].ask(combining: .all()) { inner in
        await gate.pass()
        return "\(outer.name)\(inner.name)"
      }
    }
    await gate.arrivals(25)
    gate.open()
    let expected = (0..<5).map { outer in (0..<5).map { "\(outer)\($0)" } }
    #expect(await answers == expected)
  }

  @Test("votes nested a hundred deep come back")
  func deep() async {
    let hub = DelegateHub()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    @Sendable func count(from depth: Int) async -> Int {
      if depth == 100 { return 0 }
      return await hub[Listener.self].ask(combining: .sum()) { _ in
        await count(from: depth + 1) + 1
      }
    }
    #expect(await count(from: 0) == 100)
  }
}

private protocol Answering: Actor {
  func answer() async -> Int
}

private actor Voter: Answering {
  let number: Int
  let gate: Gate

  init(_ number: Int, _ gate: Gate) {
    self.number = number
    self.gate = gate
  }

  func answer() async -> Int {
    await gate.pass()
    preconditionIsolated()
    return number
  }
}
