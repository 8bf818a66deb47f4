import Delegation
import Testing

@Suite("Ends that wait for the handlers", .inTurn)
struct UnsubscribeTests {
  /// Ends a subscription in each of the ways that wait.
  enum Way: CaseIterable, Sendable {
    case cancel, unsubscribe, registry

    @discardableResult
    func end(
      _ probe: Probe, _ subscription: DelegateHub.Subscription, of hub: DelegateHub,
      within duration: Duration? = nil
    ) async -> DelegateHub.Leftovers? {
      guard let duration else {
        switch self {
        case .cancel: await subscription.cancelAndWait()
        case .unsubscribe: await hub.unsubscribeAndWait(probe)
        case .registry: await hub[Listener.self].registry.unsubscribeAndWait(probe)
        }
        return nil
      }
      return switch self {
      case .cancel: await subscription.cancelAndWait(within: duration)
      case .unsubscribe: await hub.unsubscribeAndWait(probe, within: duration)
      case .registry:
        await hub[Listener.self].registry.unsubscribeAndWait(probe, within: duration)
      }
    }
  }

  @Test("it ends at once, and returns when no handler runs", arguments: Way.allCases, 0..<4)
  func waits(way: Way, setting: Int) async {
    let duration: Duration? = setting & 1 == 0 ? nil : .seconds(3)
    let isCancelled = setting & 2 != 0
    let hub = DelegateHub(.init(clock: ManualClock()))
    let (gates, probe, other) = ([Gate(), Gate(), Gate()], Probe("probe"), Probe("other"))
    let subscription = hub.subscribe(probe, to: Listener.self)
    hub.subscribe(probe, to: Bystander.self)
    hub.subscribe(other, to: Listener.self)
    // A notification, a question, and a handler of another protocol, for which only the object's end waits.
    hub[Listener.self].notify { await gates[$0.name == "probe" ? 0 : 2].pass() }
    hub[Listener.self].notify { $0.log.record(1) }
    let vote = Task {
      await hub[Listener.self].vote { probe in
        if probe.name == "probe" { await gates[1].pass() }
        return true
      }
    }
    for gate in gates { await gate.arrivals() }
    let events = Recorder<String>()
    let isWaiting = !isCancelled || duration == nil
    let waiting = Task {
      if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
      let left = await way.end(probe, subscription, of: hub, within: duration)
      events.record("returned, \(left.map { "\($0.subscribers.map(\.running))" } ?? "")")
    }
    while subscription.isActive { await Task.yield() }
    hub[Listener.self].notify { $0.log.record(2) }
    if !isWaiting { await waiting.value }
    for gate in gates[..<2] {
      if isWaiting { #expect(events.history.allSatisfy { $0 == "opened" }) }
      events.record("opened")
      gate.open()
    }
    await waiting.value
    let returned = "returned, \(duration == nil ? "" : isWaiting ? "[]" : "[2]")"
    #expect(
      events.history
        == (isWaiting ? ["opened", "opened", returned] : [returned, "opened", "opened"]))
    #expect(await vote.value)
    // Those of others go on.
    #expect(other.log.history == [])
    gates[2].open()
    await hub.drain()
    #expect(probe.log.history == [] && other.log.history == [1, 2])
  }

  @Test("at the deadline it names who hangs", arguments: Way.allCases)
  func hanging(way: Way) async throws {
    let clock = ManualClock()
    let hub = DelegateHub(.init(clock: clock))
    let (gate, probe) = (Gate(), Probe())
    let subscription = hub.subscribe(probe, to: Listener.self, id: "plug-in")
    hub[Listener.self].notify { _ in await gate.pass() }
    hub[Listener.self].notify { $0.log.record(1) }
    await gate.arrivals()
    async let left = way.end(probe, subscription, of: hub, within: .seconds(3))
    await clock.waitForSleepers(1)
    #expect(!subscription.isActive)
    clock.advance(by: .seconds(3))
    let who = try #require(await left?.subscribers.first)
    #expect(await left?.subscribers.count == 1)
    #expect(who.subscription == subscription && (who.running, who.waiting) == (1, 0))
    #expect(who.subscriber.hasPrefix("DelegationTests.Probe"))
    if way == .cancel { #expect(who.subscriber.hasSuffix("(plug-in)")) }
    #expect(who.site.contains("UnsubscribeTests.swift"))
    // Not waited for: what hangs, hangs on.
    #expect(await way.end(probe, subscription, of: hub, within: .zero)?.isEmpty == false)
    gate.open()
    #expect(await way.end(probe, subscription, of: hub, within: .seconds(3))?.isEmpty == true)
    #expect(probe.log.history == [])
  }

  @Test("a registry ends those with an id, and all, of its own protocol only; the hub likewise")
  func registry() {
    let hub = DelegateHub()
    let probes = Probe.many(4)
    for (number, probe) in probes.enumerated() {
      hub.subscribe(probe, toEachOf: Listener.self, Bystander.self, id: number % 3, hold: .strongly)
    }
    let registry = hub[Listener.self].registry
    #expect(hub[Listener.self].subscribers.map(\.name) == ["3", "1", "2"])
    registry.unsubscribe(id: 0)
    registry.unsubscribe(id: 7)
    #expect(hub[Listener.self].subscribers.map(\.name) == ["1", "2"])
    registry.unsubscribe(probes[2])
    #expect(hub[Listener.self].subscribers.map(\.name) == ["1"])
    registry.unsubscribeAll()
    #expect(hub[Listener.self].isEmpty)
    #expect(hub[Bystander.self].subscribers.map(\.name) == ["3", "1", "2"])
    hub[Bystander.self].unsubscribeAll()
    #expect(hub[Bystander.self].isEmpty)
  }

  @Test("at the deadline a wait only looks at who is left")
  func waitsTogether() async {
    let clock = ManualClock()
    let hub = DelegateHub { $0.clock = clock }
    let gate = Gate()
    let hanging = Hearer { _ in await gate.pass() }
    let delegates = hub[(any Hearing).self]
    for number in 1...300 {
      hub.subscribe(hanging, to: (any Hearing).self)
      Task {
        try? await delegates.vote {
          try await $0.hear(1)
          return true
        }
      }
      await gate.arrivals(number)
      hub.unsubscribe(hanging)
    }
    let left = Task { await hub.unsubscribeAndWait(hanging, within: .milliseconds(50)) }
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(50))
    #expect(await left.value.subscribers.count == 300)
    // One wait, and 299 looks: no further deadline was set.
    #expect(clock.sleepers == 0)
    gate.open()
    await hub.drain()
  }

  @Test("leftovers name an ended one by its own id, as long as its handler runs")
  func namesOfEnded() async {
    let delegates = Delegates<any Hearing>()
    let gate = Gate()
    let hanging = Hearer { _ in await gate.pass() }
    for (number, name) in ["a", "b"].enumerated() {
      let token = delegates.registry.subscribe(hanging, id: name)
      delegates.notify { try await $0.hear(1) }
      await gate.arrivals(number + 1)
      if name == "a" { token.cancel() }
    }
    let drained = await delegates.hub.drain(within: .zero)
    #expect(drained.subscribers.map { $0.subscriber.suffix(3) }.sorted() == ["(a)", "(b)"])
    let left = await delegates.hub.unsubscribeAndWait(hanging, within: .zero)
    #expect(left.subscribers.map { $0.subscriber.suffix(3) }.sorted() == ["(a)", "(b)"])
    gate.open()
    await delegates.hub.drain()
    #expect(left.subscribers.first?.subscription.statistics.subscriber.contains("(") == false)
  }
}
