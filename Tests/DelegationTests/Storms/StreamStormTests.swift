import Testing

@testable import Delegation

@Suite("Storm: streams, windows and what ends them", .inTurn(.heavy))
struct StreamStormTests {
  @Test(
    "of several loops each event reaches one, once and in order, though loops are cancelled and a limit drops",
    arguments: seeds(4))
  func loops(seed: UInt64) async {
    let events = Events<Int>(of: DelegateHub { $0.onIncident = { _ in } })
    let limit = seed % 2 == 0 ? 20 : nil
    for _ in races(20) {
      let stream = events.registry.stream(mailbox: limit.map { .dropOldest(limit: $0) })
      let (posts, taken) = (500, Recorder<(loop: Int, event: Int)>())
      await withTaskGroup { group in
        for loop in 0..<3 {
          group.addTask {
            if loop == 2 {
              // One that comes and goes: what it has not asked for is for others.
              while let event = await stream.next() {
                taken.record((loop, event))
                if event % 7 == 0 { await Task.yield() }
              }
            } else {
              for await event in stream { taken.record((loop, event)) }
            }
          }
        }
        group.addTask {
          for number in 0..<posts {
            events.post(number)
            if number % 50 == 0 { await Task.yield() }
          }
          events.finish()
        }
      }
      let numbers = taken.history.map(\.event)
      let dropped = stream.subscription.statistics.counts.dropped
      #expect(Set(numbers).count == numbers.count)
      #expect(numbers.count + dropped == posts)
      for loop in 0..<3 {
        let own = taken.history.filter { $0.loop == loop }.map(\.event)
        #expect(zip(own, own.dropFirst()).allSatisfy { $0 < $1 })
      }
      #expect(await events.hub.drain().isEmpty)
    }
  }

  @Test("with so many posters and a window, no more wait than both together", arguments: [0, 3])
  func window(leaving: Int) async {
    let events = Events<Int>()
    let (posters, most, ahead) = (3, Count(), Count())
    events.registry.observe { _ in
      ahead.add(-1)
      await Task.yield()
    }
    await withTaskGroup { group in
      for _ in 0..<posters {
        group.addTask {
          for number in rounds(300) {
            ahead.add(1)
            // Those that were counted before their post are the posters' own.
            if ahead.value > leaving + posters + 1 { most.add(1) }
            _ = await events.notifyAndWait(leaving: leaving) { try await $0.receive(number) }
          }
        }
      }
    }
    await events.hub.drain()
    #expect(most.value == 0)
    #expect(ahead.value == 0)
  }

  @Test(
    "one that subscribes while others post gets the last of what was posted, and then all, once")
  func replay() async {
    let events = Events<Int>(replaying: 2)
    let isOver = Count()
    await withTaskGroup { group in
      group.addTask {
        for number in 0..<Effort.count(20_000, atLeast: 2_000) {
          events.post(number)
          if number % 64 == 0 { await Task.yield() }
        }
        isOver.add(1)
      }
      for _ in 0..<2 {
        group.addTask {
          repeat {
            let seen = Recorder<Int>()
            let subscription = events.registry.observe { seen.record($0) }
            _ = await seen.history(of: 2)
            await subscription.cancelAndWait()
            let all = seen.history
            let expected = Array(all[0]..<(all[0] + all.count))
            #expect(all == expected)
            await Task.yield()
          } while isOver.value == 0
        }
      }
    }
    await events.hub.drain()
  }
}
