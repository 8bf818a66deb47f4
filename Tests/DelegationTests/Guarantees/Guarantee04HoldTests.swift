import Testing

@testable import Delegation

@Suite("Guarantee 4: weak, unless held", .inTurn)
struct Guarantee04HoldTests {
  @Test("a held subscriber lives until it is removed", arguments: Removal.allCases)
  func held(removal: Removal) async {
    let hub = DelegateHub()
    let (obituary, subscription) = hold(by: hub, removal)
    hub[Listener.self].notify() { _ in }
    await hub.drain()
    #expect(!obituary.isDead)
    #expect(subscription.isActive)
    #expect(await hub[Listener.self].ask(combining: .all()) { $0.name } == ["held"])
    if removal == .unsubscribeFromProtocol || removal == .unsubscribeFromEverything {
      for probe in hub[Listener.self].subscribers {
        if removal == .unsubscribeFromProtocol {
          hub.unsubscribe(probe, from: Listener.self)
        } else {
          hub.unsubscribe(probe as AnyObject)
        }
      }
    } else {
      removal.remove(Probe("held"), subscription, from: hub)
    }
    #expect(obituary.isDead)
    #expect(!subscription.isActive)
  }

  /// Subscribes itself when it is too late.
  private final class Late: Listener {
    let name = "late"
    let log = Recorder<Int>()
    private let hub: DelegateHub
    private let onEnd: @Sendable (DelegateHub.Subscription) -> Void

    init(_ hub: DelegateHub, onEnd: @escaping @Sendable (DelegateHub.Subscription) -> Void) {
      self.hub = hub
      self.onEnd = onEnd
    }

    deinit {
      for hold in [DelegateHub.Hold.weakly, .strongly] {
        onEnd(hub.subscribe(self, to: Listener.self, id: "late", hold: hold))
      }
      onEnd(hub.subscribe(self, to: Listener.self, hold: .strongly))
    }
  }

  @Test("one that subscribes in its deinit has a subscription that has ended, and is not kept")
  func dying() async {
    let hub = DelegateHub()
    let subscriptions = Recorder<DelegateHub.Subscription>()
    let namesake = Probe()
    hub.subscribe(namesake, to: Listener.self, id: "late")
    do { _ = Late(hub) { subscriptions.record($0) } }
    #expect(subscriptions.history.map(\.isActive) == [false, false, false])
    for subscription in subscriptions.history { await subscription.cancelAndWait() }
    // Nobody's place is taken by it.
    hub[Listener.self].notify() { $0.log.record(1) }
    #expect(await namesake.log.history(of: 1) == [1])
    #expect(hub[Listener.self].count == 1)
    await hub.drain()
    #expect(await hub.accounts() == .init(handled: 1))
  }

  @Test("removed while its handler runs, it lives until that handler ends")
  func removedWhileHandling() async {
    let hub = DelegateHub()
    let gate = Gate()
    let (obituary, subscription) = hold(by: hub)
    hub[Listener.self].notify() { probe in
      await gate.pass()
      #expect(probe.name == "held")
    }
    await gate.arrivals()
    subscription.cancel()
    #expect(!obituary.isDead)
    gate.open()
    await hub.drain()
    #expect(obituary.isDead)
  }

  @Test("it goes with its hub")
  func withTheHub() async {
    var hub: DelegateHub? = DelegateHub()
    let (obituary, subscription) = hold(by: hub!)
    #expect(hub?[Listener.self].count == 1)
    hub = nil
    await obituary.death()
    #expect(!subscription.isActive)
  }

  @Test("subscribing it again weakly lets it go, and strongly keeps it")
  func again() async {
    let hub = DelegateHub()
    var probe: Probe? = Probe()
    let obituary = Obituary(of: probe!)
    hub.subscribe(probe!, to: Listener.self, hold: .strongly)
    hub.subscribe(probe!, to: Listener.self, hold: .weakly)
    hub.subscribe(probe!, to: Listener.self, hold: .strongly)
    probe = nil
    #expect(!obituary.isDead)
    probe = hub[Listener.self].subscribers.first as? Probe
    hub.subscribe(probe!, to: Listener.self, hold: .weakly)
    probe = nil
    #expect(obituary.isDead)
  }

  @Test("one that is replaced under its id is released")
  func replaced() async {
    let hub = DelegateHub()
    let (obituary, subscription) = hold(by: hub, .unsubscribeByID)
    let successor = Probe("successor")
    hub.subscribe(successor, to: Listener.self, id: "held")
    #expect(obituary.isDead)
    #expect(!subscription.isActive)
    #expect(await hub[Listener.self].ask(combining: .all()) { $0.name } == ["successor"])
  }

  private func hold(
    by hub: DelegateHub, _ removal: Removal = .cancel
  ) -> (Obituary, DelegateHub.Subscription) {
    let probe = Probe("held")
    let subscription = removal.subscribe(probe, to: hub, hold: .strongly)
    return (Obituary(of: probe), subscription)
  }
}
