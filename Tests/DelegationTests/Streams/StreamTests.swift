import Delegation
import DelegationTesting
import Testing

@Suite("Streams", .inTurn)
struct StreamTests {
  /// All that a stream has left, once it ends.
  private func rest<Event>(of stream: EventStream<Event>) async -> [Event] {
    var heard: [Event] = []
    for await event in stream { heard.append(event) }
    return heard
  }

  @Test("the first event and the last one, in order, whoever is released before the loop begins")
  func firstAndLast() async {
    var events: Events<Int>? = Events<Int>()
    events?.post(0)
    guard let stream = events?.registry.stream() else { return }
    for number in 1...100 { events?.post(number) }
    events = nil
    #expect(await rest(of: stream) == Array(1...100))
    #expect(await rest(of: stream) == [])
    #expect(await stream.next() == nil)
  }

  @Test("events wait in the mailbox alone, and are handled when the loop goes on")
  func accounts() async throws {
    let events = Events<Int>()
    let stream = events.registry.stream()
    for number in 1...3 { events.post(number) }
    func counts() -> [Int] {
      let counts = stream.subscription.statistics.counts
      return [counts.handled, counts.handling, counts.waiting]
    }
    #expect(counts() == [0, 0, 3])
    var iterator: EventStream<Int>.Iterator? = stream.makeAsyncIterator()
    #expect(await iterator?.next() == 1)
    #expect(counts() == [0, 1, 2])
    let left = await events.hub.drain(within: .zero)
    let line = try #require(left.subscribers.first)
    #expect(line.subscriber == "a stream" && line.site.contains("StreamTests.swift"))
    #expect([line.running, line.waiting] == [1, 2] && left.subscribers.count == 1)
    #expect(await iterator?.next() == 2)
    #expect(counts() == [1, 1, 1])
    iterator = nil
    #expect(counts() == [2, 0, 1])
    // A loop goes on where another one has left off.
    for await event in stream {
      #expect(event == 3)
      break
    }
    #expect(await events.hub.drain().isEmpty)
    #expect(counts() == [3, 0, 0])
  }

  @Test("a loop's task that is cancelled ends the subscription")
  func cancelled() async {
    let events = Events<Int>()
    let stream = events.registry.stream()
    let waiting = Gate()
    let loop = Task {
      for await _ in stream { waiting.arrive() }
    }
    events.post(1)
    await waiting.arrivals()
    loop.cancel()
    await loop.value
    #expect(!stream.subscription.isActive && events.isEmpty)
    events.post(2)
    #expect(await rest(of: stream) == [])

    let idle = events.registry.stream()
    let end = Task { await rest(of: idle) }
    await Task.yield()
    idle.subscription.cancel()
    #expect(await end.value == [])
  }

  @Test("two loops that wait at once stop the program; one whose task is cancelled makes place")
  func twoLoops() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let events = Events<Int>()
      let stream = events.registry.stream()
      async let one = stream.next()
      async let other = stream.next()
      _ = await (one, other)
      events.finish()
    }
    #expect(said(result, "two loops wait") && said(result, "StreamTests.swift"))
    let events = Events<Int>()
    let stream = events.registry.stream()
    for number in 0..<Effort.count(300) {
      let former = Task { await stream.next() }
      if number % 2 == 0 { await Task.yield() }
      former.cancel()
      async let next = stream.next()
      if number % 3 == 0 { await Task.yield() }
      events.post(number)
      let formers = await former.value
      if formers != nil { events.post(-1) }
      #expect(await next == (formers == nil ? number : -1))
    }
  }

  @Test("what a loop has in hand when its task is cancelled is missed, however the loop ends")
  func cancelledInHand() async {
    for ending in 0..<3 {
      let events = Events<Int>()
      let (inside, gate) = (Gate(), Gate())
      let loop = Task { [stream = events.registry.stream()] in
        for await _ in stream {
          inside.arrive()
          await gate.pass()
          if ending == 1 { break }
          if ending == 2 { try Task.checkCancellation() }
        }
      }
      let poster = Task { await events.notifyAndWait { try await $0.receive(1) } }
      await inside.arrivals()
      loop.cancel()
      gate.open()
      let outcome = await poster.value
      #expect(outcome.missed == 1 && !outcome.isHandled)
      #expect(events.statistics?.counts.cancelled == 1 && events.statistics?.counts.handled == 0)
      _ = await loop.result
    }
  }

  @Test("nothing stays: stream, iterators and hub are released in every order", arguments: 0..<6)
  func released(order: Int) async {
    let lifetimes = Lifetimes()
    weak var hub: DelegateHub?
    do {
      var events: Events<Lifetimes.Tracked>? = Events()
      hub = events?.hub
      var stream = events?.registry.stream()
      var iterator = stream?.makeAsyncIterator()
      for _ in 0..<3 { events?.post(lifetimes.make()) }
      _ = await iterator?.next()
      #expect(lifetimes.alive > 0)
      let releases: [() -> Void] = [{ events = nil }, { stream = nil }, { iterator = nil }]
      let permutations = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
      for index in permutations[order] { releases[index]() }
      while hub != nil { await Task.yield() }
    }
    await lifetimes.shrink()
  }

  @Test("an iterator that waits keeps nothing of the hub; the stream ends with that")
  func waitingIterator() async {
    let lifetimes = Lifetimes()
    let configuration = DelegateHub.Configuration(
      onIncident: { [tracked = lifetimes.make()] _ in _ = tracked })
    var events: Events<Int>? = Events<Int>(of: DelegateHub(consume configuration))
    guard let stream = events?.registry.stream() else { return }
    let loop = Task { await rest(of: stream) }
    events?.post(1)
    while stream.subscription.statistics.counts.handled == 0 { await Task.yield() }
    events = nil
    #expect(await loop.value == [1])
    await lifetimes.shrink()
    withExtendedLifetime(stream) {}
  }

  @Test("a limit drops the oldest, and counts them; what is in hand stays", arguments: [1, 2, 5])
  func limits(limit: Int) async throws {
    let events = Events<Int>()
    let stream = events.registry.stream(mailbox: .dropOldest(limit: limit))
    events.post(0)
    var iterator = stream.makeAsyncIterator()
    #expect(await iterator.next() == 0)
    let first = await events.notifyAndWait(within: .zero) { try await $0.receive(1) }
    #expect(first.left.subscribers.count == 1)
    for number in 2...10 { events.post(number) }
    let counts = stream.subscription.statistics.counts
    #expect([counts.dropped, counts.waiting, counts.handling] == [10 - limit, limit, 1])
    // The number of what is in hand is still known: a wait for it does not say "nothing left".
    let left = await events.notifyAndWait(within: .zero) { try await $0.receive(11) }
    #expect(left.left.subscribers.first?.running == 1)
    stream.subscription.finish()
    var heard: [Int] = []
    while let number = await iterator.next() { heard.append(number) }
    #expect(heard == Array((12 - limit)...11))
    #expect(stream.subscription.statistics.counts.dropped == 11 - limit)
  }

  @Test("what the loop's body waits for is not the event in its hand; in a task of the body it is")
  func waitsInTheBody() async {
    let events = Events<Int>()
    let stream = events.registry.stream()
    events.post(1)
    events.post(2)
    for await event in stream {
      let left = await events.hub.drain()
      #expect(left.subscribers.count == 1)
      let own = await events.notifyAndWait { try await $0.receive(3) }
      #expect(own.left.subscribers.count == 1)
      if event == 2 { break }
    }
    let child = Task { await events.hub.drain() }
    for await _ in stream {
      #expect(await child.isWaiting)
      if stream.subscription.statistics.counts.waiting == 0 { break }
    }
    #expect(await child.value.isEmpty)
    // Within a handler, and beside another hub's loop.
    let other = Events<Int>()
    let inner = other.registry.stream()
    other.registry.observe { _ in
      for await _ in stream {
        #expect(await other.hub.drain().subscribers.count > 0)
        #expect(await events.hub.drain().subscribers.count == 1)
        break
      }
    }
    events.post(4)
    other.post(1)
    for await _ in inner { break }
    await other.hub.drain()
  }

  @Test("questions and forEach pass a stream over, and that is counted")
  func questions() async {
    let events = Events<Int>()
    let stream = events.registry.stream()
    let heard = Recorder<Int>()
    events.registry.observe { heard.record($0) }
    await events.forEach { try? await $0.receive(1) }
    let replies = await events.collect {
      try await $0.receive(2)
      return true
    }
    #expect(replies.count == 1)
    let late = await events.vote(by: .atLeast(2), within: .seconds(600), absent: .counts(as: true))
    {
      try await $0.receive(3)
      return true
    }
    #expect(!late && heard.events.prefix(2) == [1, 2])
    #expect(stream.subscription.statistics.counts.passedOver >= 3)
    #expect(events.statistics?.counts.waiting == 0)
    // Whoever has it otherwise gets an error, and the stream nothing.
    for receiver in events.subscribers where "\(type(of: receiver))".hasPrefix("StreamSource") {
      await #expect(throws: (any Error).self) { try await receiver.receive(5) }
    }
    events.post(6)
    #expect(await stream.next() == 6)
  }

  @Test("a notification brings a stream one event, or none")
  func several() async {
    let events = Events<Int>(of: DelegateHub(.init(onIncident: { _ in })))
    let stream = events.registry.stream()
    events.notify { for number in 1...3 { try await $0.receive(number) } }
    events.notify { _ in }
    events.post(4)
    events.finish()
    #expect(await rest(of: stream) == [1, 4])
    #expect(stream.subscription.statistics.counts.failed == 1)
  }

  @Test("a reconnect with the same id delivers nothing twice and leaves no gap")
  func reconnect() async {
    let events = Events<Int>()
    var stream = events.registry.stream(id: "client")
    let total = Effort.count(2_000)
    let poster = Task {
      for number in 0..<total {
        events.post(number)
        if number % 8 == 0 { await Task.yield() }
      }
    }
    var heard: [Int] = []
    while heard.count < total {
      let older = stream
      var taken = 0
      for await event in older {
        heard.append(event)
        taken += 1
        if taken == 7 || heard.count == total { break }
      }
      stream = events.registry.stream(id: "client")
      #expect(await older.next() == nil)
      if heard.count < total, await poster.isDone,
        stream.subscription.statistics.counts.waiting == 0
      {
        break
      }
    }
    #expect(heard == Array(0..<total))
  }
}
