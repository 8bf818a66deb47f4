import Testing

@testable import Delegation

@Suite("Guarantee 13: identity, at a dead one's address", .inTurn)
struct Guarantee13AddressTests {
  /// Small, so that its memory is given to the next one.
  private final class Tenant: Listener {
    let name = "tenant"
    let log: Recorder<Int>
    init(_ log: Recorder<Int>) { self.log = log }
  }

  /// Lets one tenant move in, does something, lets it die, and makes another at the same address.
  private func moveIn(
    _ log: Recorder<Int> = Recorder(), _ arrange: (Tenant) -> DelegateHub.Subscription
  ) throws -> (tenant: Tenant, earlier: DelegateHub.Subscription) {
    var others: [Tenant] = []
    for _ in 0..<10_000 {
      let (address, earlier) = liveAndDie(arrange)
      let tenant = Tenant(log)
      if ObjectIdentifier(tenant) == address { return (tenant, earlier) }
      others.append(tenant)
    }
    throw NoSuchAddress()
  }

  private struct NoSuchAddress: Error {}

  private func liveAndDie(_ arrange: (Tenant) -> DelegateHub.Subscription) -> (
    ObjectIdentifier, DelegateHub.Subscription
  ) {
    let tenant = Tenant(Recorder())
    return (ObjectIdentifier(tenant), arrange(tenant))
  }

  @Test("one who is not subscribed is not taken for the dead one who was")
  func notSubscribed() async throws {
    let hub = DelegateHub()
    let (tenant, earlier) = try moveIn { hub.subscribe($0, to: Listener.self) }
    #expect(!earlier.isActive)
    #expect(hub[Listener.self].count == 0)
    #expect(hub[Listener.self].subscribers.isEmpty)
    hub[Listener.self].notify() { $0.log.record(1) }
    #expect(await hub[Listener.self].ask(combining: .sum()) { _ in 1 } == 0)
    await hub.drain()
    #expect(tenant.log.history == [])
  }

  @Test("one who subscribes has a subscription of its own, in its own place, with its own options")
  func subscribed() async throws {
    let hub = DelegateHub()
    let neighbour = Probe("neighbour")
    let (tenant, earlier) = try moveIn { tenant in
      hub.subscribe(tenant, to: Listener.self, priority: 0)
    }
    hub.subscribe(neighbour, to: Listener.self)
    let subscription = hub.subscribe(tenant, to: Listener.self)
    #expect(subscription != earlier)
    #expect([earlier.isActive, subscription.isActive] == [false, true])
    earlier.cancel()
    await earlier.cancelAndWait()
    #expect(subscription.isActive)
    #expect(
      await hub[Listener.self].ask(combining: .all()) { $0.name } == ["neighbour", "tenant"])
    hub.unsubscribe(tenant)
    #expect(!subscription.isActive)
  }

  @Test("what waited for the dead one is not told to its successor")
  func waiting() throws {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let (tenant, _) = try moveIn { tenant in
      let subscription = hub.subscribe(tenant, to: Listener.self)
      hub[Listener.self].notify() { $0.log.record(1) }
      return subscription
    }
    hub.subscribe(tenant, to: Listener.self)
    hub[Listener.self].notify() { $0.log.record(2) }
    executor.run()
    #expect(tenant.log.history == [2])
  }

  @Test("the same with an id: the successor is not subscribed by it")
  func identified() async throws {
    let hub = DelegateHub()
    let (tenant, earlier) = try moveIn { hub.subscribe($0, to: Listener.self, id: 1) }
    let subscription = hub.subscribe(tenant, to: Listener.self)
    #expect([earlier.isActive, subscription.isActive] == [false, true])
    hub.unsubscribe(id: 1)
    #expect(subscription.isActive)
    #expect(hub[Listener.self].count == 1)
  }

  @Test("one who lives and dies ten thousand times at few addresses is told all it lived for")
  func churn() async {
    let hub = DelegateHub()
    for number in rounds(10_000) {
      let log = Recorder<Int>()
      let tenant = Tenant(log)
      let subscription = hub.subscribe(tenant, to: Listener.self)
      if number % 100 == 0 {
        hub[Listener.self].notify() { $0.log.record(number) }
        #expect(await log.history(of: 1) == [number])
      }
      #expect(subscription.isActive)
      withExtendedLifetime(tenant) {}
    }
  }

  @Test("who unsubscribes one that is not subscribed does not cancel the dead one: it has expired")
  func unsubscribed() throws {
    let executor = ManualExecutor()
    let hub = DelegateHub(.init(executor: executor, onIncident: { _ in }))
    for isOfProtocol in [true, false] {
      let (tenant, earlier) = try moveIn { tenant in
        let subscription = hub.subscribe(tenant, to: Listener.self)
        hub[Listener.self].notify() { $0.log.record(1) }
        return subscription
      }
      if isOfProtocol {
        hub.unsubscribe(tenant as any Listener, from: Listener.self)
      } else {
        hub.unsubscribe(tenant)
      }
      #expect(!earlier.isActive)
      #expect(earlier.statistics.counts == .init(expired: 1))
      executor.run()
      #expect(tenant.log.history == [])
    }
  }
}
