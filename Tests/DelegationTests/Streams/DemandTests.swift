import Delegation
import DelegationTesting
import Testing

@Suite("demand: whether anybody is subscribed", .inTurn)
struct DemandTests {
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

  @Test("finish ends each loop: one that waits, subscribers or not, and one that begins later")
  func finished() async {
    for isSubscribed in [false, true] {
      let events = Events<Int>()
      if isSubscribed { events.registry.observe { _ in } }
      let (heard, demand) = (Recorder<Bool>(), events.demand)
      let loop = Task { for await isWanted in demand { heard.record(isWanted) } }
      #expect(await heard.history(of: 1) == [isSubscribed])
      events.finish()
      await loop.value
      #expect(heard.history == (isSubscribed ? [true, false] : [false]))
      for await _ in demand { Issue.record("a value after the end") }
    }
  }

  @Test("a loop that waits for demand hears that the last one has gone")
  func lastOne() {
    let (stage, seen) = (Stage(), Recorder<Bool>())
    let events = Events<Int>(of: stage.hub)
    let demand = events.demand
    Task(executorPreference: stage.executor) { for await value in demand { seen.record(value) } }
    stage.run()
    let token = events.registry.observe { _ in }
    stage.run()
    token.cancel()
    stage.run()
    #expect(seen.history == [false, true, false])
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
