import Testing

@testable import Delegation

@Suite("Endings with a deadline, and by the registry", .inTurn)
struct EndingWithinTests {
  /// Ends a subscription in each of the ways that have a deadline.
  enum Way: CaseIterable, Sendable {
    case cancel, unsubscribe, registry

    func end(
      _ probe: Probe, _ subscription: DelegateHub.Subscription, of hub: DelegateHub,
      within duration: Duration
    ) async -> DelegateHub.Leftovers {
      switch self {
      case .cancel: await subscription.cancelAndWait(within: duration)
      case .unsubscribe: await hub.unsubscribeAndWait(probe, within: duration)
      case .registry:
        await hub[Listener.self].registry.unsubscribeAndWait(probe, within: duration)
      }
    }
  }

  @Test(
    "at the deadline it names who hangs, and nobody is called any more", arguments: Way.allCases)
  func hanging(way: Way) async throws {
    let clock = ManualClock()
    let hub = DelegateHub(.init(clock: clock))
    let (gate, probe) = (Gate(), Probe())
    let subscription = hub.subscribe(probe, to: Listener.self, id: "plug-in")
    hub[Listener.self].notify() { _ in await gate.pass() }
    hub[Listener.self].notify() { $0.log.record(1) }
    let vote = Task {
      await hub[Listener.self].vote() { _ in
        await gate.pass()
        return true
      }
    }
    await gate.arrivals(2)
    async let left = way.end(probe, subscription, of: hub, within: .seconds(3))
    await clock.waitForSleepers(1)
    #expect(!subscription.isActive)
    clock.advance(by: .seconds(3))
    let who = try #require(await left.subscribers.first)
    #expect(await left.subscribers.count == 1)
    #expect(who.subscription == subscription)
    #expect(who.running == 2)
    #expect(who.waiting == 0)
    #expect(who.subscriber.hasPrefix("DelegationTests.Probe"))
    if way == .cancel { #expect(who.subscriber.hasSuffix("(plug-in)")) }
    #expect(who.site.contains("EndingWithinTests.swift"))
    // Not waited for: what hangs, hangs on.
    #expect(await !way.end(probe, subscription, of: hub, within: .zero).isEmpty)
    gate.open()
    #expect(await vote.value)
    #expect(await way.end(probe, subscription, of: hub, within: .seconds(3)).isEmpty)
    #expect(probe.log.history == [])
  }

  @Test("before the deadline it returns as soon as the handlers have", arguments: Way.allCases)
  func inTime(way: Way) async {
    let hub = DelegateHub(.init(clock: ManualClock()))
    let (gate, probe) = (Gate(), Probe())
    let subscription = hub.subscribe(probe, to: Listener.self)
    hub[Listener.self].notify() { _ in await gate.pass() }
    await gate.arrivals()
    async let left = way.end(probe, subscription, of: hub, within: .seconds(3))
    while subscription.isActive { await Task.yield() }
    gate.open()
    #expect(await left.isEmpty)
  }

  @Test("it returns what is left at once if its task is cancelled", arguments: Way.allCases)
  func cancelled(way: Way) async {
    let hub = DelegateHub(.init(clock: ManualClock()))
    let (gate, probe) = (Gate(), Probe())
    let subscription = hub.subscribe(probe, to: Listener.self)
    hub[Listener.self].notify() { _ in await gate.pass() }
    await gate.arrivals()
    let task = Task { await way.end(probe, subscription, of: hub, within: .seconds(3)) }
    task.cancel()
    #expect(await task.value.subscribers.map(\.running) == [1])
    gate.open()
    await hub.drain()
  }

  @Test("in its own handler it does not wait for that, and names it", arguments: Way.allCases)
  func ownHandler(way: Way) async {
    let hub = DelegateHub(.init(clock: ManualClock()))
    let left = Recorder<Int>()
    let probe = Probe()
    let subscription = hub.subscribe(probe, to: Listener.self)
    hub[Listener.self].notify() { _ in
      let leftovers = await way.end(probe, subscription, of: hub, within: .seconds(3))
      left.record(leftovers.subscribers.map(\.running).reduce(0, +))
    }
    await hub.drain()
    #expect(left.history == [1])
  }

  @Test("a deadline is kept when the hub has been released")
  func releasedHub() async {
    let clock = ManualClock()
    var hub: DelegateHub? = DelegateHub(.init(clock: clock))
    let (gate, probe) = (Gate(), Probe())
    let subscription = hub?.subscribe(probe, to: Listener.self)
    hub?[Listener.self].notify() { _ in await gate.pass() }
    await gate.arrivals()
    hub = nil
    async let left = subscription?.cancelAndWait(within: .seconds(3))
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(3))
    #expect(await left?.subscribers.map(\.running) == [1])
    gate.open()
    await subscription?.cancelAndWait()
  }

  @Test("a registry ends those with an id, and all, of its own protocol only")
  func registry() async {
    let hub = DelegateHub()
    let probes = Probe.many(4)
    for (number, probe) in probes.enumerated() {
      hub.subscribe(probe, toEachOf: Listener.self, Bystander.self, id: number % 3)
    }
    let registry = hub[Listener.self].registry
    #expect(hub[Listener.self].subscribers.map(\.name) == ["3", "1", "2"])
    registry.unsubscribe(id: 0)
    registry.unsubscribe(id: 7)
    #expect(hub[Listener.self].subscribers.map(\.name) == ["1", "2"])
    registry.unsubscribeAll()
    #expect((!!hub[Listener.self].isEmpty))
    #expect(hub[Bystander.self].subscribers.map(\.name) == ["3", "1", "2"])
    withExtendedLifetime(probes) {}
  }
}
