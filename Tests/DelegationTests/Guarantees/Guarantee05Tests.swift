import Delegation
import Testing

@Suite("Guarantee 5: order", .inTurn)
struct Guarantee05Tests {
  @Test("eight posters at once: one order for all, each poster's own, and one at a time")
  func manyPosters() async {
    for _ in rounds(10) {
      let (hub, busy) = (DelegateHub(), Recorder<String>())
      let probes = Probe.many(6)
      let inside = probes.map { _ in Guarded(0) }
      for (number, probe) in probes.enumerated() {
        hub.subscribe(probe, to: Listener.self, priority: number % 3)
      }
      await withTaskGroup { group in
        for poster in 0..<8 {
          group.addTask {
            for number in 0..<50 {
              let event = poster * 1000 + number
              if number % 3 == 0 {
                hub.listeners.notify { probe in
                  let own = inside[Int(probe.name)!]
                  if own.withLock({
                    $0 += 1; return $0
                  }) > 1 {
                    busy.record(probe.name)
                  }
                  // Each subscriber is held up elsewhere.
                  if event % 6 == Int(probe.name) { await Task.yield() }
                  probe.log.record(event)
                  own.withLock { $0 -= 1 }
                }
              } else {
                hub.listeners.notify { probe in
                  if inside[Int(probe.name)!].withLock({ $0 }) > 0 { busy.record(probe.name) }
                  probe.log.record(event)
                }
              }
              if number % 8 == poster { await Task.yield() }
            }
          }
        }
      }
      await hub.drain()
      let order = probes[0].log.history
      #expect(order.count == 400 && probes.allSatisfy { $0.log.history == order })
      #expect(busy.history == [], "handled two at once")
      for poster in 0..<8 {
        #expect(order.filter { $0 / 1000 == poster } == (0..<50).map { poster * 1000 + $0 })
      }
    }
  }

  @Test("what a voter posts comes in the order in which it posts; a chain of posts runs to its end")
  func chain() async {
    let hub = DelegateHub()
    let (probes, voter) = (hub.cast(2), Probe("voter"))
    hub.subscribe(voter, to: Bystander.self)
    @Sendable func post(_ number: Int) {
      hub.listeners.notify { probe in
        probe.log.record(number)
        if probe.name == "\(number % 2)", number < 1000 { post(number + 1) }
      }
    }
    hub.listeners.notify { $0.log.record(-3) }
    _ = await hub.bystanders.vote { _ in
      hub.listeners.notify { $0.log.record(-2) }
      await Task.yield()
      hub.listeners.notify { $0.log.record(-1) }
      return true
    }
    post(0)
    await hub.drain()
    #expect(probes.map(\.log.history) == [Array(-3...1000), Array(-3...1000)])
  }
}
