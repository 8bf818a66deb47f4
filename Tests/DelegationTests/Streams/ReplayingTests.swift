import Delegation
import DelegationTesting
import Foundation
import Testing

@Suite("What is replayed to new subscriptions", .inTurn)
struct ReplayingTests {
  private func counts(_ counts: DelegateHub.Statistics.Counts?) -> [Int] {
    counts.map { [$0.handled, $0.dropped, $0.cancelled, $0.waiting] } ?? []
  }

  @Test("a new subscription gets the latest ones first, then what follows")
  func order() async {
    let events = Events<Int>(replaying: 2)
    for number in 1...3 { events.post(number) }
    let heard = Recorder<Int>()
    let token = events.registry.observe { heard.record($0) }
    events.post(4)
    await events.hub.drain()
    #expect(heard.events == [2, 3, 4] && counts(token.statistics.counts) == [3, 0, 0, 0])
    #expect(events.statistics?.addressed == 3 && events.statistics?.posted == 4)
    let stream = events.registry.stream(mailbox: .latest)
    #expect(stream.subscription.statistics.counts.waiting == 1)
    #expect(await stream.next() == 4)
  }

  @Test("what a new subscription gets again is nothing that a poster waits for, or is told of")
  func late() {
    let (stage, gates) = (Stage(), ["slow": Gate(), "new": Gate()])
    let all = Delegates<any Listener>(of: stage.hub, replaying: 1)
    let (slow, quick, new) = (Probe("slow"), Probe("quick"), Probe("new"))
    stage.hub.subscribe(slow, to: Listener.self)
    let call = stage.start { _ in await all.notifyAndWait { await gates[$0.name]?.pass() } }
    for probe in [quick, new] { stage.hub.subscribe(probe, to: Listener.self) }
    stage.run()
    let now = stage.counted
    #expect(call.result == nil && [now.handled, now.handling] == [1, 2])
    stage.open(gates["slow"]!)
    #expect(call.result.map { [$0.addressed, $0.handled] } == [1, 1])
    stage.open(gates["new"]!)
  }

  @Test("what is posted after the last subscriber has gone is kept for the next one")
  func replay() async {
    let events = Events<Int>(replaying: 2)
    let token = events.registry.observe { _ in }
    events.post(1)
    await events.hub.drain()
    token.cancel()
    events.post(2)
    events.post(3)
    let heard = Recorder<Int>()
    events.registry.observe { heard.record($0) }
    await events.hub.drain()
    #expect(heard.events == [2, 3])
  }

  @Test("the greatest count holds; 0 and less keep nothing", arguments: [[0], [-1], [1, 3, 2]])
  func greatest(sizes: [Int]) async {
    let hub = DelegateHub()
    let all = sizes.map { Events<Int>(of: hub, replaying: $0) }
    let most = max(0, sizes.max() ?? 0)
    for last in 1...5 {
      all[0].post(last)
      for limit in 1...5 {
        let heard = Recorder<Int>()
        let token = all[0].registry.observe(mailbox: .dropOldest(limit: limit)) { heard.record($0) }
        await hub.drain()
        #expect(heard.events == Array((1...last).suffix(min(most, limit))))
        token.cancel()
      }
    }
    // What is kept stays if more is asked for.
    let more = Events<Int>(of: hub, replaying: 4)
    for number in 6...7 { more.post(number) }
    let replayed = more.registry.stream()
    more.finish()
    let kept = await replayed.reduce(into: []) { $0.append($1) }
    #expect(kept == Array((1...7).suffix(min(4, most + 2))))
  }

  @Test("who takes over an id gets what waits, not the replay")
  func takeOver() async {
    let events = Events<Int>(replaying: 3)
    let first = events.registry.stream(id: "screen")
    for number in 1...4 { events.post(number) }
    #expect(await first.next { $0 == 2 } == 2)
    let second = events.registry.stream(id: "screen")
    events.finish()
    #expect(await second.reduce(into: []) { $0.append($1) } == [3, 4])
    #expect(await first.next() == nil)
  }

  @Test("at most so many closures are kept, and none beyond the hub")
  func memory() async {
    let lifetimes = Lifetimes()
    var events: Events<Lifetimes.Tracked>? = Events(replaying: 2)
    for _ in 0..<100 { events?.post(lifetimes.make()) }
    #expect(lifetimes.alive == 2)
    let token = events?.registry.observe { _ in }
    await events?.hub.drain()
    events?.post(lifetimes.make())
    await events?.hub.drain()
    #expect(lifetimes.alive == 2)
    events = nil
    let end = ContinuousClock.now + .seconds(60)
    while lifetimes.alive > 0, ContinuousClock.now < end { await Task.yield() }
    #expect(lifetimes.alive == 0 && token?.isActive == false)
  }

  @Test("storm: whoever comes while events are posted has all from one on, and none twice")
  func storm() async {
    let events = Events<Int>(replaying: 8)
    let (total, isOver) = (Effort.count(3_000), Gate())
    Thread.detachNewThread {
      for number in 0..<total { events.post(number) }
      isOver.arrive()
    }
    var subscribers: [(Recorder<Int>, DelegateHub.Subscription, Int)] = []
    while isOver.arrived == 0, subscribers.count < 300 {
      let heard = Recorder<Int>()
      let posted = events.statistics?.posted ?? 0
      subscribers.append((heard, events.registry.observe { heard.record($0) }, posted))
      await Task.yield()
    }
    await isOver.arrivals()
    await events.hub.drain()
    for (heard, token, posted) in subscribers {
      let numbers = heard.events
      #expect(numbers == Array((numbers.first ?? 0)..<total))
      #expect(numbers.count >= min(8, total) && numbers.first ?? 0 >= posted - 8)
      #expect(token.statistics.counts.addressed == numbers.count)
    }
    #expect(events.statistics?.counts.addressed == events.statistics?.addressed)
  }
}
