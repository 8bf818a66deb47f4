import Testing

@testable import Delegation

@Suite("Storm: statistics beside changes", .inTurn(.heavy))
struct StatisticsStormTests {
  @Test("who looks on beside those who come and go races with nobody, and sums stay exact")
  func comingAndGoing() async {
    let hub = DelegateHub()
    let (stayers, heard) = ((0..<12).map { _ in Probe() }, Count())
    for stayer in stayers { hub.subscribe(stayer, to: Listener.self) }
    await withTaskGroup { group in
      for _ in 0..<2 {
        group.addTask {
          for _ in 0..<Effort.count(1_000, atLeast: 200) {
            let guest = Probe()
            let subscription = hub.subscribe(guest, to: Listener.self)
            hub[Listener.self].notify() { _ in heard.add(1) }
            subscription.cancel()
          }
        }
      }
      group.addTask {
        for _ in 0..<Effort.count(1_000, atLeast: 200) {
          let statistics = await hub[Listener.self].statistics
          #expect(statistics?.counts.addressed == statistics?.addressed)
          _ = await hub.drain(within: .zero)
          #expect((!hub[Listener.self].isEmpty))
        }
      }
    }
    await hub.drain()
    let counts = await hub.statistics().counts
    #expect(counts.handled == heard.value)
    #expect(counts.handled + counts.cancelled + counts.expired == counts.addressed)
    withExtendedLifetime(stayers) {}
  }
}
