import Delegation
import Testing

@Suite("Guarantee 13: identity", .inTurn)
struct Guarantee13Tests {
  let stage = Stage()

  @Test("subscribed by many at once, again and again, amid a storm, it is one, called once each")
  func storm() async {
    for _ in rounds(20) {
      let (hub, probe, tokens) = (DelegateHub(), Probe(), Recorder<DelegateHub.Subscription>())
      await withTaskGroup { group in
        for priority in 0..<4 {
          group.addTask {
            for _ in 0..<50 {
              tokens.record(hub.subscribe(probe, to: Listener.self, priority: priority))
              await Task.yield()
            }
          }
        }
        group.addTask {
          _ = await tokens.history(of: 1)
          for number in 0..<100 {
            hub.listeners.notify { $0.log.record(number) }
            #expect(await hub.listeners.ask(combining: .sum()) { _ in 1 } == 1)
          }
        }
      }
      await hub.drain()
      #expect(Set(tokens.history).count == 1 && probe.log.history == Array(0..<100))
    }
  }

  @Test("objects that are equal are not the same; one id may stand in several protocols and hubs")
  func equals() async {
    final class Equal: Listener, Hashable {
      let name = "equal"
      let log = Recorder<Int>()
      static func == (lhs: Equal, rhs: Equal) -> Bool { true }
      func hash(into hasher: inout Hasher) {}
    }
    let (hub, twins) = (DelegateHub(), [Equal(), Equal()])
    for twin in twins { hub.subscribe(twin, to: Listener.self) }
    hub.unsubscribe(twins[0])
    await hub.listeners.notifyAndWait { $0.log.record(1) }
    #expect(twins.map(\.log.history) == [[], [1]])
    let probe = Probe()
    let tokens = [
      hub.subscribe(probe, to: Listener.self, id: 1),
      hub.subscribe(probe, to: Bystander.self, id: 1),
      DelegateHub().subscribe(twins[0], to: Listener.self, id: 1),
    ]
    #expect(tokens.prefix(2).allSatisfy({ $0.isActive }))
  }

  /// Small, so that its memory is given to the next one.
  private final class Tenant: Listener {
    let name = "tenant"
    let log: Recorder<Int>
    init(_ log: Recorder<Int> = Recorder()) { self.log = log }
  }

  /// Lets a tenant move in, does something, lets it die, and makes another one at the same address.
  private func moveIn(
    _ arrange: (Tenant) -> DelegateHub.Subscription
  ) throws -> (tenant: Tenant, earlier: DelegateHub.Subscription) {
    func liveAndDie() -> (ObjectIdentifier, DelegateHub.Subscription) {
      let tenant = Tenant()
      return (ObjectIdentifier(tenant), arrange(tenant))
    }
    var others: [Tenant] = []
    for _ in 0..<10_000 {
      let (address, earlier) = liveAndDie()
      let tenant = Tenant()
      if ObjectIdentifier(tenant) == address { return (tenant, earlier) }
      others.append(tenant)
    }
    throw Refusal(reason: "no such address")
  }

  @Test("one at a dead one's address is not subscribed, not told, and not found by its id")
  func address() throws {
    for id in [nil, 1] {
      let (stage, neighbour) = (Stage(), Probe("neighbour"))
      let (tenant, earlier) = try moveIn { tenant in
        let token = stage.hub.subscribe(tenant, to: Listener.self, priority: -1, id: id)
        stage.listeners.notify { $0.log.record(1) }
        return token
      }
      #expect(!earlier.isActive && stage.listeners.isEmpty && stage.listeners.subscribers.isEmpty)
      stage.hub.subscribe(neighbour, to: Listener.self)
      let token = stage.hub.subscribe(tenant, to: Listener.self)
      #expect(token != earlier && token.isActive && !earlier.isActive)
      earlier.cancel()
      stage.hub.unsubscribe(id: 1)
      stage.listeners.notify { $0.log.record(2) }
      stage.run()
      #expect([tenant.log, neighbour.log].map(\.history) == [[2], [2]])
      let names = stage.perform { await $0.listeners.ask(combining: .all()) { $0.name } }
      #expect(names == ["neighbour", "tenant"], "it has a place of its own")
    }
  }

  @Test("who unsubscribes one that is not subscribed does not cancel the dead one: it has expired")
  func unsubscribed() throws {
    for isOfProtocol in [true, false] {
      let (tenant, earlier) = try moveIn { tenant in
        let token = stage.hub.subscribe(tenant, to: Listener.self)
        stage.listeners.notify { $0.log.record(1) }
        return token
      }
      if isOfProtocol {
        stage.listeners.registry.unsubscribe(tenant)
      } else {
        stage.hub.unsubscribe(tenant)
      }
      #expect(!earlier.isActive && earlier.statistics.counts == counts(expired: 1))
      stage.run()
      #expect(tenant.log.history == [])
    }
  }
}
