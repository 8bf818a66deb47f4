import Testing

@testable import Delegation

@Suite("Storm: what ends while others call", .inTurn(.heavy))
struct EndStormTests {
  @Test("what was posted before a hub was released is delivered, though others cancel meanwhile")
  func hubs() async {
    let (members, witness) = ((0..<3).map { _ in Probe.many(512) }, Probe("witness"))
    var dice = Dice(seed: Effort.firstSeed)
    for _ in races(75) {
      let owners = members.map { members in
        let hub = DelegateHub()
        let subscriptions = members.map { hub.subscribe($0, to: Listener.self) }
        hub.subscribe(witness, to: Bystander.self)
        // With the 512th end the list is merged, which frees memory.
        for subscription in subscriptions.dropLast() { subscription.cancel() }
        return (owner: Guarded<DelegateHub?>(hub), last: subscriptions.last)
      }
      let (meeting, read) = (Meeting(of: 6), Recorder<Void>())
      let pauses = (0..<6).map { _ in dice.roll(300) }
      Threads.run(6) { index in
        let (owner, last) = owners[index / 2]
        meeting.await(0)
        for _ in 0..<pauses[index] { _ = read.count }
        if index % 2 == 0 {
          last?.cancel()
        } else {
          owner.take()?[Bystander.self].notify { _ in read.record(()) }
        }
      }
      // One that is lost is waited for in vain.
      _ = await read.history(of: 3)
    }
    withExtendedLifetime((members, witness)) {}
  }

  /// Looks at the hub when it is released, which would hang under the hub's lock.
  private final class LookingID: Hashable, Sendable {
    private let hub: DelegateHub
    private let count: Count

    init(_ hub: DelegateHub, _ count: Count) { (self.hub, self.count) = (hub, count) }

    deinit {
      _ = hub[Listener.self].count
      count.add(1)
    }

    static func == (one: LookingID, other: LookingID) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  @Test("options are released outside of the locks, however they are replaced and ended")
  func options() async {
    let (hub, released, probes) = (DelegateHub(), Count(), Probe.many(2))
    var made = 0
    for _ in races(300) {
      made += 12
      Threads.run(4) { index in
        for number in 0..<3 {
          let subscription = hub.subscribe(
            probes[index % 2], to: Listener.self, id: LookingID(hub, released),
            hold: number == 1 ? .strongly : nil, mailbox: number == 2 ? .latest : nil)
          if index == 0 { subscription.cancel() }
        }
      }
      hub[Listener.self].unsubscribeAll()
    }
    #expect(hub[Listener.self].isEmpty)
    #expect(released.value == made)
  }
}
