import Testing

@testable import Delegation

@Suite("Storm: ids that change and collide", .inTurn(.heavy))
struct IdentityStormTests {
  /// All of them have one hash.
  private struct ID: Hashable, Sendable {
    let number: Int

    func hash(into hasher: inout Hasher) {}
  }

  /// One thread gives an object a new id, another ends whoever has the former one, a third one moves between
  /// two other ids.
  @Test("nobody is ended by an id that it has given up, nor by another id of the same hash")
  func changes() async {
    let hub = DelegateHub()
    let members = Probe.many(3)
    for member in members { hub.subscribe(member, to: Listener.self, id: Self.id(of: member, 0)) }
    let rounds = rounds(3_000).count
    let meeting = Meeting(of: 3)
    let missing = Count()
    Threads.run(3) { index in
      for round in 0..<rounds {
        guard meeting.await(2 * round) else { return }
        let (former, next) = (round % 2, (round + 1) % 2)
        switch index {
        case 0: hub.subscribe(members[0], to: Listener.self, id: Self.id(of: members[0], next))
        case 1: hub.unsubscribe(id: Self.id(of: members[0], former))
        default: hub.subscribe(members[1], to: Listener.self, id: Self.id(of: members[1], next))
        }
        guard meeting.await(2 * round + 1) else { return }
        // Before the next round begins, as the others wait for this one.
        if index == 0, hub.snapshot(of: Self.key).count != members.count { missing.add(1) }
      }
    }
    #expect(missing.value == 0)
    hub.unsubscribe(id: Self.id(of: members[2], 0))
    #expect(hub[Listener.self].subscribers.map(\.name).sorted() == ["0", "1"])
    withExtendedLifetime(members) {}
  }

  private static var key: ObjectIdentifier { ObjectIdentifier((any Listener).self) }

  private static func id(of member: Probe, _ variant: Int) -> ID {
    ID(number: 2 * (Int(member.name) ?? 0) + variant)
  }
}
