import Synchronization
import Testing

@testable import Delegation

@Suite("Storm: hubs that are released while others cancel", .inTurn(.heavy))
struct ReleaseStormTests {
  /// What a round's notification keeps: when it is released, it tells whether the handler ran.
  private final class Letter: Sendable {
    private let isRead = Atomic(false)
    private let onEnd: @Sendable (Bool) -> Void

    init(onEnd: @escaping @Sendable (Bool) -> Void) { self.onEnd = onEnd }

    func read() { isRead.store(true, ordering: .releasing) }

    deinit { onEnd(isRead.load(ordering: .acquiring)) }
  }

  /// The only owner of a hub and of a letter, until they are taken.
  private final class Owner: Sendable {
    private let owned: Lock<(hub: DelegateHub, letter: Letter)?>

    init(_ hub: DelegateHub, _ letter: Letter) { owned = Lock((hub, letter)) }

    func take() -> (hub: DelegateHub, letter: Letter)? { owned.withLock { $0.take() } }
  }

  /// How many hubs are released at once: with more threads than cores, one may stop anywhere.
  private static let hubs = 3

  @Test("what was posted is delivered")
  func delivered() async {
    let members = (0..<Self.hubs).map { _ in Probe.many(512) }
    let witness = Probe("witness")
    var dice = Dice(seed: Effort.firstSeed)
    var (lost, played) = (0, 0)
    for _ in races(200) {
      played += Self.hubs
      lost += await play(members, witness, &dice)
    }
    #expect(lost == 0, "of \(played)")
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
    let (hub, released) = (DelegateHub(), Count())
    let probes = Probe.many(2)
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
      hub.unsubscribeAll(from: Listener.self)
    }
    #expect(hub[Listener.self].count == 0)
    #expect(released.value == made)
  }

  /// Plays one round: for each hub, one thread cancels, and another one posts and releases it.
  ///
  /// - Returns: how many notifications were lost.
  private func play(_ members: [[Probe]], _ witness: Probe, _ dice: inout Dice) async -> Int {
    let results = Recorder<Bool>()
    var hubs: [(owner: Owner, last: DelegateHub.Subscription?)] = []
    for members in members {
      let (owner, subscriptions) = await makeHub(members, witness) { results.record($0) }
      // With the 512th end, the canceller merges the list, which frees memory.
      for subscription in subscriptions.dropLast() { subscription.cancel() }
      hubs.append((owner, subscriptions.last))
    }
    let pauses = (0..<2 * Self.hubs).map { _ in dice.roll(300) }
    let meeting = Meeting(of: 2 * Self.hubs)
    Threads.run(2 * Self.hubs) { [hubs] index in
      let (owner, last) = hubs[index / 2]
      meeting.await(0)
      spin(pauses[index])
      if index.isMultiple(of: 2) {
        last?.cancel()
      } else if let (hub, letter) = owner.take() {
        hub[Bystander.self].notify() { _ in letter.read() }
      }
    }
    return await results.history(of: Self.hubs).count { !$0 }
  }

  private func makeHub(
    _ members: [Probe], _ witness: Probe, onEnd: @escaping @Sendable (Bool) -> Void
  ) async -> (Owner, [DelegateHub.Subscription]) {
    let hub = DelegateHub()
    let subscriptions = members.map { hub.subscribe($0, to: Listener.self) }
    hub.subscribe(witness, to: Bystander.self)
    await hub.drain()
    // The list that has the witness is merged.
    _ = hub[Bystander.self].count
    return (Owner(hub, Letter(onEnd: onEnd)), subscriptions)
  }
}

/// Keeps the thread busy for a moment.
private func spin(_ turns: Int) {
  let turn = Atomic<Int>(0)
  while turn.wrappingAdd(1, ordering: .relaxed).newValue < turns {}
}
