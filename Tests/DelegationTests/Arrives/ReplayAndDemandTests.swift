import Delegation
import DelegationTesting
import Foundation
import Testing

@Suite("2.4 and 2.5 Replays and demand", .inTurn)
struct ReplayAndDemandTests {
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

  @Test("a poster does not wait for who subscribes after it has posted")
  func late() async {
    let events = Events<Int>(replaying: 1)
    let (inside, gate, never) = (Gate(), Gate(), Gate())
    events.registry.observe { _ in
      inside.arrive()
      await gate.pass()
    }
    let poster = Task { await events.notifyAndWait { try await $0.receive(1) } }
    await inside.arrivals()
    events.registry.observe { _ in
      inside.arrive()
      await never.pass()
    }
    await inside.arrivals(2)
    gate.open()
    let outcome = await poster.value
    #expect(outcome.addressed == 1 && outcome.isHandled)
    never.open()
    await events.hub.drain()
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

  @Test("demand: the present value, each change, the latest only, and the end with the hub")
  func demand() async {
    var events: Events<Int>? = Events<Int>()
    guard let demand = events?.demand else { return }
    var one = demand.makeAsyncIterator()
    #expect(await one.next() == false)
    let token = events?.registry.observe { _ in }
    #expect(await one.next() == true)
    let second = events?.registry.observe { _ in }
    second?.cancel()
    // Back to what it was before it was asked for: no change.
    token?.cancel()
    let third = events?.registry.observe { _ in }
    third?.cancel()
    #expect(await one.next() == false)
    let cancelled = Task {
      var iterator = demand.makeAsyncIterator()
      _ = await iterator.next()
      return await iterator.next()
    }
    await Task.yield()
    cancelled.cancel()
    #expect(await cancelled.value == nil)
    weak let hub = events?.hub
    events = nil
    #expect(await one.next() == nil && hub == nil)
    var late = demand.makeAsyncIterator()
    #expect(await late.next() == nil)
  }

  @Test("storm: demand ends with what is so, and values alternate")
  func demandStorm() async {
    for _ in races(50) {
      var events: Events<Int>? = Events<Int>()
      guard let demand = events?.demand else { return }
      let loop = Task { await demand.reduce(into: []) { $0.append($1) } }
      await withTaskGroup { [events] group in
        for _ in 0..<4 {
          group.addTask {
            for _ in 0..<Effort.count(50) { events?.registry.observe { _ in }.cancel() }
          }
        }
      }
      events?.registry.observe { _ in }
      events = nil
      let values = await loop.value
      // None if the hub has gone before the loop begins.
      #expect(values.last != true && zip(values, values.dropFirst()).allSatisfy { $0 != $1 })
    }
  }
}
