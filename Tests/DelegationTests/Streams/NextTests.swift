import Delegation
import DelegationTesting
import Testing

@Suite("Streams: next, and once", .inTurn)
struct NextTests {
  @Test("next: the first that fits; those before it are handled, those behind it wait")
  func next() async {
    let events = Events<Int>()
    let stream = events.registry.stream()
    for number in 1...5 { events.post(number) }
    #expect(await stream.next { $0 > 2 } == 3)
    let counts = stream.subscription.statistics.counts
    #expect([counts.handled, counts.handling, counts.waiting] == [3, 0, 2])
    #expect(await stream.next(within: .zero) == 4)
    // What the condition refuses is handled as well.
    #expect(await stream.next(within: .zero) { $0 > 5 } == nil)
    #expect(stream.subscription.statistics.counts.waiting == 0)
    #expect(await stream.next(within: .zero) == nil)
    #expect(stream.subscription.isActive)
  }

  @Test("next is nil at the deadline, on cancellation, and at the end")
  func nothing() async {
    let clock = ManualClock()
    let hub = DelegateHub { $0.clock = clock }
    let events = Events<Int>(of: hub)
    let stream = events.registry.stream()
    async let late = stream.next(within: .seconds(2))
    await clock.waitForSleepers()
    clock.advance(by: .seconds(2))
    #expect(await late == nil)

    async let refused = stream.next(within: .seconds(2)) { $0 > 1 }
    await clock.waitForSleepers()
    events.post(1)
    while stream.subscription.statistics.counts.waiting > 0 { await Task.yield() }
    clock.advance(by: .seconds(3))
    #expect(await refused == nil)

    let cancelled = Task { await stream.next() }
    await Task.yield()
    cancelled.cancel()
    #expect(await cancelled.value == nil && stream.subscription.isActive)
    events.post(2)
    #expect(await stream.next() == 2)

    let ended = Task { await stream.next() }
    await Task.yield()
    events.finish()
    #expect(await ended.value == nil && events.isEmpty)
  }

  @Test("next returns at its deadline though events keep coming; with zero it waits for no thread")
  func flood() async {
    let clock = ManualClock()
    let events = Events<Int>(
      of: DelegateHub {
        $0.clock = clock
        $0.executor = ManualExecutor()
      })
    for (duration, expected) in [(Duration.zero, [0, 1]), (.seconds(3), [0, 1, 0])] {
      let stream = events.registry.stream()
      for number in 0...1 { events.post(number) }
      var seen: [Int] = []
      let answer = await stream.next(within: duration) { event in
        seen.append(event)
        events.post(event)
        clock.advance(by: .seconds(1))
        return seen.count == 100
      }
      #expect(answer == nil && seen == expected)
      #expect(stream.subscription.statistics.counts.waiting == 2)
      stream.subscription.cancel()
      #expect(await events.registry.next(within: .zero) == nil)
    }
  }

  @Test("the registry's next sees what is posted after it has begun, and ends its subscription")
  func registryNext() async {
    let events = Events<Int>()
    events.post(0)
    let answer = Task { await events.registry.next { $0 % 2 == 0 } }
    while events.isEmpty { await Task.yield() }
    for number in 1...4 { events.post(number) }
    #expect(await answer.value == 2)
    #expect(events.isEmpty)
    #expect(await events.registry.next(within: .zero) == nil)
    let states = Events<Int>(replaying: 1)
    states.post(7)
    #expect(await states.registry.next { $0 == 7 } == 7)
    // The condition runs where the caller is, and may change what is there.
    var seen = 0
    #expect(
      await states.registry.next { event in
        seen += event
        return true
      } == 7 && seen == 7)
  }

  @Test("once is called with one event, beside posts by eight threads; the rest is cancelled")
  func once() async {
    for _ in races(200) {
      let events = Events<Int>()
      let (heard, calls) = (Recorder<Int>(), Effort.count(20))
      let token = events.registry.once {
        heard.record($0)
        if $0 % 2 == 0 { await Task.yield() } else { throw Refusal() }
      }
      await withTaskGroup { group in
        for thread in 0..<8 {
          group.addTask { for number in 0..<calls { events.post(thread * 1000 + number) } }
        }
      }
      await events.hub.drain()
      let counts = token.statistics.counts
      #expect(heard.count == 1 && !token.isActive)
      #expect(counts.handled + counts.failed == 1 && counts.waiting == 0)
      #expect(events.statistics?.counts.addressed == events.statistics?.addressed)
    }
    // Nor if it is subscribed again, with another option, while its event waits.
    let (executor, twice) = (ManualExecutor(), Recorder<Int>())
    let again = Events<Int>(of: DelegateHub(on: executor))
    again.registry.once { twice.record($0) }
    again.post(1)
    again.registry.subscribe(again.subscribers[0], priority: 5)
    again.post(2)
    executor.run()
    #expect(twice.events == [1])
    // It can be cancelled before, and replays are events.
    let states = Events<Int>(replaying: 3)
    for number in 1...3 { states.post(number) }
    let heard = Recorder<Int>()
    states.registry.once { heard.record($0) }
    await states.hub.drain()
    #expect(heard.events == [1] && states.isEmpty)
    let quiet = Events<Int>()
    quiet.registry.once { heard.record($0) }.cancel()
    quiet.post(9)
    await quiet.hub.drain()
    #expect(heard.events == [1])
    // What comes while it runs is neither waited for nor kept.
    let (busy, gate, inside) = (Events<Int>(), Gate(), Gate())
    let token = busy.registry.once { _ in
      inside.arrive()
      await gate.pass()
    }
    busy.post(1)
    await inside.arrivals()
    #expect(await busy.notifyAndWait { try await $0.receive(2) }.missed == 1)
    let counts = token.statistics.counts
    #expect([counts.handling, counts.waiting, counts.cancelled] == [1, 0, 1] && token.isActive)
    gate.open()
  }
}
