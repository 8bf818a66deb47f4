import Testing

@testable import Delegation

@Suite("Storm: take-overs with limited mailboxes", .inTurn(.heavy))
struct TakeOverStormTests {
  private static let pool = ThreadPool(threads: 4)

  @Test(
    "nothing is lost, whichever form it has", arguments: seeds(4))
  func takeOvers(seed: UInt64) async {
    let hub = DelegateHub(on: Self.pool)
    let posts = rounds(4_000, atLeast: 1_000).count
    // More than there are notifications: nothing is dropped.
    let policy: DelegateHub.MailboxPolicy =
      seed % 2 == 0 ? .dropOldest(limit: posts) : .dropNewest(limit: posts)
    let members = Probe.many(posts / 16)
    hub.subscribe(members[0], to: Listener.self, id: "seat", mailbox: policy)
    let handled = Count()
    await withTaskGroup { group in
      group.addTask(executorPreference: Self.pool) {
        var dice = Dice(seed: seed)
        for _ in 0..<posts {
          if seed > 2, dice.roll(4) == 0 {
            hub.notify(Listener.self) { @MainActor _ in handled.add(1) }
          } else {
            hub.notify(Listener.self) { _ in handled.add(1) }
          }
          if dice.roll(16) == 0 { await Task.yield() }
        }
      }
      group.addTask(executorPreference: Self.pool) {
        for member in members.dropFirst() {
          hub.subscribe(member, to: Listener.self, id: "seat", mailbox: policy)
          await Task.yield()
        }
      }
    }
    await hub.drain()
    let counts = await hub.statistics().counts
    #expect(counts.handled == handled.value)
    #expect(counts.handled == posts, "\(counts)")
    withExtendedLifetime(members) {}
  }
}
