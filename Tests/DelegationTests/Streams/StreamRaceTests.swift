import Delegation
import DelegationTesting
import Testing

@Suite("Streams: races", .inTurn(.heavy))
struct StreamRaceTests {
  /// Whether each poster's numbers are in order.
  private func isOrdered(_ numbers: [Int]) -> Bool {
    var last: [Int: Int] = [:]
    for number in numbers {
      if let former = last[number % 4], former >= number { return false }
      last[number % 4] = number
    }
    return true
  }

  private func post(_ total: Int, to events: Events<Int>) async {
    await withTaskGroup { group in
      for poster in 0..<4 {
        group.addTask {
          for number in 0..<total {
            events.post(4 * number + poster)
            if number % 16 == poster { await Task.yield() }
          }
        }
      }
    }
  }

  @Test("of four posters and three streams nothing is lost, twice, or out of order")
  func posters() async {
    let total = Effort.count(1_000)
    let events = Events<Int>()
    let streams = (0..<3).map { _ in events.registry.stream() }
    let loops = streams.map { stream in
      Task {
        var heard: [Int] = []
        // By loops and by single events, in turn.
        while heard.count < 4 * total {
          for await number in stream {
            heard.append(number)
            if number % 7 == 0 { break }
          }
          guard let number = await stream.next() else { break }
          heard.append(number)
        }
        return heard
      }
    }
    await post(total, to: events)
    events.finish()
    for loop in loops {
      let heard = await loop.value
      #expect(isOrdered(heard) && heard.sorted() == Array(0..<4 * total))
    }
    await events.hub.drain()
    let counts = events.statistics?.counts
    #expect(counts?.handled == 12 * total && counts?.waiting == 0 && counts?.handling == 0)
  }

  @Test("streams that come and end leave exact counts, nothing else", arguments: seeds(6))
  func coming(seed: UInt64) async {
    let lifetimes = Lifetimes()
    var seeds = Dice(seed: seed)
    let events = Events<Lifetimes.Tracked>()
    await withTaskGroup { group in
      for _ in 0..<2 {
        group.addTask {
          for _ in 0..<Effort.count(300) {
            events.post(lifetimes.make())
            await Task.yield()
          }
        }
      }
      for _ in 0..<6 {
        var dice = Dice(seed: seeds.next())
        group.addTask {
          for _ in 0..<Effort.count(20) {
            let id = dice.roll(2) == 0 ? dice.roll(2) : nil
            let mailbox: DelegateHub.MailboxPolicy? =
              dice.roll(2) == 0 ? .dropOldest(limit: 1 + dice.roll(3)) : nil
            let stream = events.registry.stream(id: id, mailbox: mailbox)
            let count = dice.roll(10)
            let loop = Task {
              var taken = 0
              for await _ in stream {
                taken += 1
                if taken > count { break }
              }
            }
            for _ in 0..<dice.roll(20) { await Task.yield() }
            switch dice.roll(5) {
            case 0: stream.subscription.cancel()
            case 1: stream.subscription.finish()
            case 2: loop.cancel()
            case 3: events.finish()
            default: _ = await events.hub.drain(within: .zero)
            }
            loop.cancel()
            await loop.value
          }
        }
      }
    }
    #expect(await events.hub.drain().isEmpty)
    let statistics = events.statistics
    #expect(statistics?.counts.addressed == statistics?.addressed, "seed \(seed)")
    #expect(statistics?.counts.waiting == 0 && events.isEmpty)
    await lifetimes.shrink()
  }

  @Test("loops of a hub that is released have all that was posted, in order")
  func released() async {
    for _ in races(100) {
      var events: Events<Int>? = Events<Int>()
      let streams = (0..<2).compactMap { _ in events?.registry.stream() }
      let loops = streams.map { stream in Task { await stream.reduce(into: []) { $0.append($1) } } }
      let poster = Task { [events] in for number in 0..<20 { events?.post(number) } }
      events = nil
      await poster.value
      for loop in loops { #expect(await loop.value == Array(0..<20)) }
    }
  }
}
