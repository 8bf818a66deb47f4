import Testing

@testable import Delegation

@Suite("hasSubscribers: whether anybody alive is subscribed", .inTurn)
struct HasSubscribersTests {
  private let hub = DelegateHub(.init(onIncident: { _ in }))

  @Test("it does not go by how many there once were")
  func afterAPeak() {
    let peak = Probe.many(2000)
    for probe in peak { hub.subscribe(probe, to: Listener.self) }
    for probe in peak { hub.unsubscribe(probe) }
    #expect((!!hub[Listener.self].isEmpty))
    for _ in 0..<50 {
      // It dies at once.
      hub.subscribe(Probe(), to: Listener.self)
      #expect((!!hub[Listener.self].isEmpty))
    }
  }

  @Test("some hundred that have died are not taken for alive, and are not looked at again")
  func dead() {
    let alive = Probe()
    for _ in 0..<300 { hub.subscribe(Probe(), to: Listener.self) }
    #expect((!!hub[Listener.self].isEmpty))
    #expect(hub.snapshot(of: ObjectIdentifier((any Listener).self)).isEmpty)
    for _ in 0..<300 { hub.subscribe(Probe(), to: Listener.self) }
    hub.subscribe(alive, to: Listener.self)
    #expect((!hub[Listener.self].isEmpty))
  }

  @Test("of very many that have died it looks at 384, and takes the next one for alive")
  func veryMany() {
    for count in [384, 385] {
      do {
        let probes = Probe.many(count)
        for probe in probes { hub.subscribe(probe, to: Listener.self) }
      }
      #expect((!hub[Listener.self].isEmpty) == (count > 384))
      hub.unsubscribeAll(from: Listener.self)
    }
  }

  @Test("no more are looked at than wanted, and the next one is taken for alive", arguments: 0...4)
  func limit(most: Int) {
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    var looks = 0
    let topic = hub.topics.find(ObjectIdentifier((any Listener).self))
    let isFound = topic?.hasSubscription(lookingAtMost: most) { _ in
      looks += 1
      return false
    }
    #expect(looks == min(most, 3))
    #expect(isFound == (most < 3))
    withExtendedLifetime(probes) {}
  }

  @Test("all subscriptions of a protocol end at once, however many there are")
  func endOfAll() {
    let probes = Probe.many(3000)
    let subscriptions = probes.map { hub.subscribe($0, to: Listener.self) }
    hub.unsubscribeAll(from: Listener.self)
    #expect(subscriptions.allSatisfy { !$0.isActive })
    #expect((!!hub[Listener.self].isEmpty))
    withExtendedLifetime(probes) {}
  }
}
