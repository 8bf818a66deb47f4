import Testing

@testable import Delegation

@Suite("Events: streams", .inTurn)
struct EventStreamTests {
  private func isObserved(_ events: Events<Int>) -> Bool { events.count > 0 }

  @Test("a stream has the events since it was made, in order, and ends with the hub")
  func order() async {
    var events: Events<Int>? = Events<Int>()
    events?.post(0)
    let stream = events?.registry.stream()
    for number in 1...100 { events?.post(number) }
    events = nil
    var heard: [Int] = []
    for await number in stream ?? AsyncStream.makeStream().stream { heard.append(number) }
    #expect(heard == Array(1...100))
  }

  @Test("a stream whose loop already waits ends when the hub is released")
  func waiting() async {
    var events: Events<Int>? = Events<Int>()
    let stream = events?.registry.stream()
    let first = Gate()
    async let heard = Task {
      var heard: [Int] = []
      for await number in stream ?? AsyncStream.makeStream().stream {
        heard.append(number)
        first.arrive()
      }
      return heard
    }.value
    events?.post(1)
    await first.arrivals()
    await events?.hub.drain()
    events = nil
    #expect(await heard == [1])
  }

  @Test("a stream ends when its subscription is ended by the protocol, its buffer first")
  func ended() async {
    let events = Events<Int>()
    let streams = (0..<3).map { _ in events.registry.stream() }
    events.post(1)
    await events.hub.drain()
    events.hub.unsubscribeAll(from: (any EventReceiver<Int>).self)
    events.post(2)
    for stream in streams {
      var heard: [Int] = []
      for await number in stream { heard.append(number) }
      #expect(heard == [1])
    }
  }

  @Test(
    "the subscription ends when the loop is left, its task is cancelled, or the stream released")
  func nobodyIterates() async {
    let events = Events<Int>()
    do {
      let left = events.registry.stream()
      events.post(1)
      for await _ in left { break }
    }
    #expect(!isObserved(events))

    let cancelled = events.registry.stream()
    let task = Task { for await _ in cancelled {} }
    #expect(isObserved(events))
    task.cancel()
    await task.value
    #expect(!isObserved(events))

    _ = events.registry.stream()
    #expect(!isObserved(events))
    // Nobody is left to be told.
    events.post(2)
    await events.hub.drain()
    #expect(await events.hub.statistics().counts.handled <= 1)
  }

  @Test("a buffer with a limit keeps what its policy says")
  func buffers() async {
    let events = Events<Int>()
    let policies: [AsyncStream<Int>.Continuation.BufferingPolicy] = [
      .bufferingNewest(2), .bufferingOldest(2), .unbounded,
    ]
    let streams = policies.map { events.registry.stream(buffering: $0) }
    for number in 1...5 { events.post(number) }
    await events.hub.drain()
    events.hub.unsubscribeAll(from: (any EventReceiver<Int>).self)
    var heard: [[Int]] = []
    for stream in streams {
      var numbers: [Int] = []
      for await number in stream { numbers.append(number) }
      heard.append(numbers)
    }
    #expect(heard == [[4, 5], [1, 2], [1, 2, 3, 4, 5]])
  }

  @Test("nothing of a stream stays: not its buffer, not what its events hold, not the hub's part")
  func leaks() async {
    let lifetimes = Lifetimes()
    func stream(ending end: (Events<Lifetimes.Tracked>) -> Void) async {
      let events = Events<Lifetimes.Tracked>()
      let streams = (0..<3).map { _ in events.registry.stream() }
      let task = Task { for await _ in streams[0] {} }
      for _ in 0..<10 { events.post(lifetimes.make()) }
      await events.hub.drain()
      #expect(lifetimes.alive > 0)
      end(events)
      task.cancel()
      await task.value
    }
    await stream { _ in }
    await stream { $0.hub.unsubscribeAll(from: (any EventReceiver<Lifetimes.Tracked>).self) }
    while lifetimes.alive > 0 { await Task.yield() }
  }

  @Test("storm: streams come, are left and cancelled while events are posted and objects die")
  func storm() async {
    for _ in rounds(30) {
      let lifetimes = Lifetimes()
      let incidents = Recorder<DelegateHub.Incident.Kind>()
      let events = Events<Int>(of: DelegateHub { $0.onIncident = { incidents.record($0.kind) } })
      let survivors = Recorder<Int>()
      events.registry.observe { survivors.record($0) }
      let loops = Recorder<Task<Void, Never>>()
      await withTaskGroup { group in
        for poster in 0..<2 {
          group.addTask { for number in 0..<100 { events.post(poster * 1000 + number) } }
        }
        for reader in 0..<8 {
          group.addTask {
            let stream = events.registry.stream(buffering: .bufferingNewest(10))
            let loop = Task {
              var last = [-1, -1]
              for await number in stream {
                let poster = number / 1000
                #expect(number > last[poster])
                last[poster] = number
                if reader % 3 == 0 { break }
              }
            }
            loops.record(loop)
            let owner = lifetimes.make()
            events.registry.observe(with: owner) { _, _ in await Task.yield() }
            await Task.yield()
            if reader % 3 == 1 { loop.cancel() }
          }
        }
      }
      await events.hub.drain()
      #expect(survivors.history.count == 200)
      events.hub.unsubscribeAll(from: (any EventReceiver<Int>).self)
      for loop in loops.history { await loop.value }
      #expect(events.isEmpty)
      #expect(lifetimes.alive == 0)
      let accounts = await events.hub.accounts()
      #expect(accounts.waiting == 0)
      #expect(accounts.failed == 0)
      #expect(accounts.dropped == 0)
      #expect(incidents.history.allSatisfy { $0 == .unheard })
    }
  }
}
