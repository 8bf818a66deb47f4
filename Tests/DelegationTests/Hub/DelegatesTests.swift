import Testing

@testable import Delegation

@Suite("Delegates: one protocol's half of a hub", .inTurn)
struct DelegatesTests {
  private let delegates = Delegates<any Listener>()
  private let probes = Probe.many(3)

  init() {
    for probe in probes { delegates.registry.subscribe(probe) }
  }

  @Test("notify reaches every subscriber, in each of its three forms")
  func notify() async {
    delegates.notify { $0.log.record(1) }
    delegates.notify { probe in
      await Task.yield()
      probe.log.record(2)
    }
    delegates.notify { @MainActor probe in
      MainActor.assertIsolated()
      probe.log.record(3)
    }
    await delegates.hub.drain()
    #expect(probes.map(\.log.history) == [[1, 2, 3], [1, 2, 3], [1, 2, 3]])
  }

  @Test("notifyAndWait returns when all have handled it, with nothing left")
  func notifyAndWait() async {
    let left = await delegates.notifyAndWait { $0.log.record(1) }
    #expect(left.isEmpty)
    #expect(probes.map(\.log.history) == [[1], [1], [1]])
    #expect(await delegates.notifyAndWait(within: .seconds(600)) { $0.log.record(2) }.isEmpty)
    #expect(probes.map(\.log.history) == [[1, 2], [1, 2], [1, 2]])
  }

  @Test("vote and ask combine the answers, in each of their forms")
  func questions() async throws {
    #expect(await delegates.vote { $0.name != "3" })
    #expect(await !delegates.vote { $0.name != "1" })
    #expect(await delegates.vote(by: .anyone) { $0.name == "1" })
    #expect(await delegates.vote { @MainActor in $0.name != "3" })
    #expect(await !delegates.vote { @MainActor in $0.name != "1" })
    #expect(
      await !delegates.vote(absent: .counts(as: false)) { probe in
        if probe.name == "1" { throw Refusal() }
        return true
      })
    await #expect(throws: Refusal(reason: "1")) {
      try await delegates.vote { probe throws(Refusal) in
        if probe.name == "1" { throw Refusal(reason: probe.name) }
        return true
      }
    }
    #expect(await delegates.ask(combining: .sum()) { Int($0.name)! } == 3)
    let partly = await delegates.ask(combining: .sum(), within: .seconds(600), absent: .abstains) {
      probe in
      if probe.name == "1" { throw Refusal() }
      return Int(probe.name)!
    }
    #expect(partly == 2)
  }

  @Test("collect gives each one's own result")
  func collect() async throws {
    let replies = await delegates.collect { $0.name }
    #expect(try replies.map { try $0.result.get() } == ["0", "1", "2"])
  }

  @Test("askInTurn and pass ask one after another, in both forms")
  func inTurn() async {
    #expect(await delegates.askInTurn { $0.name == "1" ? $0.name : nil } == "1")
    #expect(await delegates.pass("") { $1 + $0.name } == "012")
    let answer = await delegates.askInTurn(absent: .abstains) { probe -> String? in
      if probe.name == "0" { throw Refusal() }
      return probe.name
    }
    #expect(answer == "1")
    let passed = await delegates.pass("", within: .seconds(600), absent: .abstains) { probe, text in
      if probe.name == "1" { throw Refusal() }
      return text + probe.name
    }
    #expect(passed == "02")
  }

  @Test("isEmpty, count and subscribers say who is there, alive")
  func looking() async {
    #expect(!delegates.isEmpty)
    #expect(delegates.count == 3)
    #expect(delegates.subscribers.map(\.name) == ["0", "1", "2"])
    for probe in probes { delegates.registry.unsubscribe(probe) }
    #expect(delegates.isEmpty)
    #expect(delegates.count == 0)
    delegates.registry.subscribe(Probe())
    #expect(delegates.isEmpty)
  }

  @Test("a hub's half is that hub's, however it is made, and no other protocol's")
  func sameHub() async {
    let hub = delegates.hub
    #expect((!hub[Listener.self].isEmpty))
    #expect((!!hub[Bystander.self].isEmpty))
    #expect(hub[Listener.self].count == 3)
    #expect(Delegates(Listener.self, of: hub).count == 3)
    #expect(hub[Bystander.self].isEmpty)
    hub.subscribe(probes[0], to: Bystander.self)
    hub[Bystander.self].notify { $0.log.record(1) }
    await hub.drain()
    #expect(probes.map(\.log.history) == [[1], [], []])
  }

  @Test("the registry takes all options, and knows where it was called")
  func registry() async {
    let registry = delegates.registry
    let first = Probe("first")
    let queue = MarkedQueue.make("registry")
    registry.subscribe(first, priority: 1, id: "id", hold: .weakly, mailbox: .latest, on: queue)
    let line = UInt(#line - 1)
    #expect(delegates.subscribers.map(\.name) == ["first", "0", "1", "2"])
    let places = await delegates.collect { _ in MarkedQueue.current }
    #expect(
      places.map { try? $0.result.get() } == ["registry", "elsewhere", "elsewhere", "elsewhere"])
    let sites = await delegates.hub.statistics().protocols.flatMap(\.subscribers).map(\.site)
    #expect(sites.first == "DelegationTests/DelegatesTests.swift:\(line)")
  }

  @Test("unsubscribeAndWait of the registry waits for this protocol's handlers, and no other's")
  func unsubscribeAndWait() async {
    let (gate, other) = (Gate(), Gate())
    let probe = probes[0]
    delegates.hub.subscribe(probe, to: Bystander.self)
    delegates.hub[Bystander.self].notify() { _ in await other.pass() }
    delegates.notify { if $0.name == "0" { await gate.pass() } }
    await gate.arrivals()
    await other.arrivals()
    let events = Recorder<String>()
    let waiting = Task {
      await delegates.registry.unsubscribeAndWait(probe)
      events.record("returned")
    }
    while delegates.count == 3 { await Task.yield() }
    events.record("opened")
    gate.open()
    await waiting.value
    #expect(events.history == ["opened", "returned"])
    other.open()
  }
}
