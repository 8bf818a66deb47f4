import Testing

@testable import Delegation

@Suite("Storm: statistics of a mailbox that keeps the latest, while others post", .inTurn)
struct LatestStormTests {
  private static let pool = ThreadPool(threads: 2)

  @Test("they never show more than one that waits")
  func waiting() async {
    let hub = DelegateHub(.init(executor: Self.pool, onIncident: { _ in }))
    let (probe, gate) = (Probe(), Gate())
    let subscription = hub.subscribe(probe, to: Listener.self, mailbox: .latest)
    hub[Listener.self].notify() { _ in await gate.pass() }
    await gate.arrivals()
    let (looks, ended) = (Count(), Count())
    let most = Lock(0)
    Threads.run(2) { index in
      if index == 0 {
        for _ in races(20_000) {
          let waiting = subscription.statistics.counts.waiting
          most.withLock { $0 = max($0, waiting) }
          looks.add(1)
          if waiting > 1 { break }
        }
        ended.add(1)
      } else {
        var posts = 0
        while ended.value == 0 {
          // Some at each look: more would be looked through for as long as they are posted.
          guard posts < 4 * looks.value else { continue }
          posts += 1
          hub[Listener.self].notify() { _ in }
        }
      }
    }
    #expect(most.withLock { $0 } <= 1)
    gate.open()
    await hub.drain()
    #expect(await hub.accounts().handled == 2)
    withExtendedLifetime(probe) {}
  }
}
