import Delegation
import Testing

@Suite("Delegates: one protocol of a hub", .inTurn)
struct DelegatesTests {
  private let delegates = Delegates<any Listener>(of: DelegateHub(.init(onIncident: { _ in })))
  private let probes = Probe.many(3)

  init() {
    for probe in probes { delegates.registry.subscribe(probe) }
  }

  @Test("isEmpty, count and subscribers say who is there, alive, at once and from anywhere")
  func looking() {
    #expect(!delegates.isEmpty && delegates.count == 3)
    #expect(delegates.subscribers.map(\.name) == ["0", "1", "2"])
    for probe in probes { delegates.registry.unsubscribe(probe) }
    #expect(delegates.isEmpty && delegates.count == 0)
    // They do not go by how many there once were, or have died.
    let peak = Probe.many(2000)
    for probe in peak { delegates.registry.subscribe(probe) }
    delegates.hub[Listener.self].unsubscribeAll()
    for _ in 0..<600 {
      // It dies at once.
      delegates.registry.subscribe(Probe())
      #expect(delegates.isEmpty)
    }
    #expect(delegates.subscribers.isEmpty)
    delegates.registry.subscribe(probes[0])
    #expect(!delegates.isEmpty && delegates.count == 1)
    withExtendedLifetime(peak) {}
  }

  @Test("a hub's Delegates are that hub's, however they are made, and no other protocol's")
  func sameHub() async {
    let hub = delegates.hub
    #expect(hub[Listener.self].count == 3 && Delegates(Listener.self, of: hub).count == 3)
    #expect(hub[Bystander.self].isEmpty && DelegateHub()[Listener.self].isEmpty)
    hub.subscribe(probes[0], to: Bystander.self)
    await hub[Bystander.self].notifyAndWait { $0.log.record(1) }
    #expect(probes.map(\.log.history) == [[1], [], []])
    // A composition is a protocol of its own.
    #expect(hub[(any Listener & Bystander).self].isEmpty)
  }

  private protocol Telephone: Bystander {}
  private final class Apparatus: Telephone {
    let name = "apparatus"
    let log = Recorder<Int>()
  }

  @Test("who subscribes to a refined protocol is not reached by calls on the one that it refines")
  func refinedProtocol() async {
    let (hub, apparatus) = (DelegateHub(), Apparatus())
    hub.subscribe(apparatus, to: Telephone.self)
    await hub[Bystander.self].notifyAndWait { $0.log.record(1) }
    #expect(apparatus.log.history == [])
    hub.subscribe(apparatus, toEachOf: Bystander.self, Telephone.self)
    await hub[Bystander.self].notifyAndWait { $0.log.record(2) }
    #expect(apparatus.log.history == [2])
  }

  @Test("the registry takes all options, and knows where it was called")
  func registry() async {
    let registry = delegates.registry
    let first = Probe("first")
    let own = DispatchQueueExecutor(MarkedQueue.make("registry"))
    registry.subscribe(first, priority: 1, id: "id", hold: .weakly, mailbox: .latest, on: own)
    let line = UInt(#line - 1)
    #expect(delegates.subscribers.map(\.name) == ["first", "0", "1", "2"])
    let places = await delegates.collect { _ in MarkedQueue.current }
    #expect(
      places.map { try? $0.result.get() } == ["registry", "elsewhere", "elsewhere", "elsewhere"])
    let sites = delegates.hub.statistics().protocols.flatMap(\.subscribers).map(\.site)
    #expect(sites.first == "DelegationTests/DelegatesTests.swift:\(line)")
  }

  @Test("the hub goes with its Delegates; a subscription does not keep it, a registry does")
  func memory() {
    let told = Recorder<DelegateHub.Incident>()
    let (lifetimes, probe) = (Lifetimes(), Probe())
    func play() -> (Obituary, Obituary, DelegateHub.Subscription) {
      let (driven, cargo) = (ManualExecutor(), lifetimes.make())
      let delegates = Delegates<any Listener>(
        of: DelegateHub(
          .init(
            executor: driven,
            onIncident: { incident in
              withExtendedLifetime(cargo) {}
              told.record(incident)
            })))
      let subscription = delegates.registry.subscribe(probe)
      delegates.notify { _ in throw Refusal() }
      driven.run()
      return (Obituary(of: delegates.hub), Obituary(of: driven), subscription)
    }
    let (hub, driven, subscription) = play()
    #expect(!subscription.isActive && told.history.count == 1 && hub.isDead && driven.isDead)
    #expect(lifetimes.alive == 0)
    let registry = Delegates<any Listener>().registry
    #expect(registry.subscribe(probe).isActive)
  }
}
