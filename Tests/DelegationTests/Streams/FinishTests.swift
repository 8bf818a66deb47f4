import Delegation
import DelegationTesting
import Testing

@Suite("finish: of a subscription, and of a protocol", .inTurn)
struct FinishTests {
  @Test("finish: what was posted before is handled, what comes later is to nobody")
  func finish() async {
    for policy in [nil, .latest, .dropOldest(limit: 2), .unbounded] as [DelegateHub.MailboxPolicy?]
    {
      let events = Events<Int>()
      let (gate, inside, heard) = (Gate(), Gate(), Recorder<Int>())
      let token = events.registry.observe(mailbox: policy) {
        inside.arrive()
        if $0 == 0 { await gate.pass() }
        heard.record($0)
      }
      let stream = events.registry.stream(mailbox: policy)
      events.post(0)
      await inside.arrivals()
      events.post(1)
      events.finish()
      events.post(2)
      events.post(3)
      #expect(token.isActive)
      gate.open()
      var streamed: [Int] = []
      for await number in stream { streamed.append(number) }
      await events.hub.drain()
      #expect(heard.events == [0, 1] && streamed.suffix(1) == [1] && !streamed.contains(2))
      #expect(!token.isActive && events.isEmpty)
      #expect(token.statistics.counts.cancelled == 0 && token.statistics.counts.dropped == 0)
    }
    // At once if nothing waits; once more does nothing.
    let events = Events<Int>()
    let token = events.registry.observe { _ in }
    token.finish()
    token.finish()
    #expect(!token.isActive && events.isEmpty)
  }

  @Test("questions are asked until a subscription has ended, and then there is nobody to ask")
  func questions() {
    let (stage, gate) = (Stage(), Gate())
    let (busy, idle) = (Probe("busy"), Probe("idle"))
    for probe in [busy, idle] { stage.listeners.registry.subscribe(probe) }
    stage.listeners.notify { if $0.name == "busy" { await gate.pass() } }
    stage.run()
    func ask() -> [String] {
      var asked: [String] = []
      stage.listeners.forEach { asked.append($0.name) }
      return asked
    }
    stage.listeners.finish()
    #expect(ask() == ["busy"] && stage.listeners.count == 1)
    stage.open(gate)
    #expect(ask().isEmpty && stage.listeners.isEmpty)
  }

  @Test("to subscribe at the place before its end is a replacement: all that waits goes over")
  func finishTakenBack() async {
    for isAnother in [false, true] {
      // A limit holds for what was posted since, too.
      await replace(isAnother, limit: nil, hearing: [0, 1, 2, 3])
      await replace(isAnother, limit: .dropOldest(limit: 2), hearing: [0, 2, 3])
    }
  }

  private func replace(
    _ isAnother: Bool, limit: DelegateHub.MailboxPolicy?, hearing expected: [Int]
  ) async {
    let delegates = Delegates<any Hearing>()
    let (gate, inside, heard) = (Gate(), Gate(), Recorder<Int>())
    let hearers = (0..<2).map { _ in
      Hearer {
        inside.arrive()
        if $0 == 0 { await gate.pass() }
        heard.record($0)
      }
    }
    let token = delegates.registry.subscribe(hearers[0], id: "place", mailbox: limit)
    delegates.notify { try await $0.hear(0) }
    await inside.arrivals()
    token.finish()
    for number in 1...3 { delegates.notify { try await $0.hear(number) } }
    let counts = token.statistics.counts
    #expect(counts.waiting == expected.count - 1 && counts.cancelled == 4 - expected.count)
    #expect(delegates.statistics?.counts.waiting == counts.waiting)
    let newer =
      isAnother
      ? delegates.registry.subscribe(hearers[1], id: "place")
      : delegates.registry.subscribe(hearers[0])
    #expect((newer == token) == !isAnother)
    gate.open()
    await delegates.hub.drain()
    #expect(heard.events == expected && newer.isActive && token.isActive == !isAnother)
    // At its end the place is free.
    newer.finish()
    #expect(!newer.isActive && delegates.registry.subscribe(hearers[0]) != newer)
    withExtendedLifetime(hearers) {}
  }

  @Test("who subscribes beside or after a finish, or later, ends")
  func lateGuests() async {
    for count in 0..<2 {
      for _ in races(300) {
        let events = Events<Int>(replaying: count)
        let heard = Recorder<Int>()
        async let early = events.registry.stream().reduce(into: []) { $0.append($1) }
        async let next = events.registry.next { $0 == 7 }
        async let finish: Void = Task.detached {
          events.post(1)
          events.finish()
          events.post(7)
        }.value
        let beside = events.registry.observe { heard.record($0) }
        #expect(await [[], [1]].contains(early))
        #expect(await next == nil)
        await finish
        let late = await events.registry.stream().reduce(into: []) { $0.append($1) }
        #expect(late == Array([1].prefix(count)))
        let observer = events.registry.observe { heard.record($0) }
        let once = events.registry.once { heard.record($0) }
        await events.hub.drain()
        #expect(!beside.isActive && !observer.isActive && !once.isActive && events.isEmpty)
        #expect(heard.events.allSatisfy { $0 == 1 } && heard.count >= 2 * count)
        let outcome = await events.notifyAndWait { try await $0.receive(8) }
        #expect(outcome.addressed == 0)
        let counts = events.statistics?.counts
        #expect(counts?.waiting == 0 && counts?.handling == 0)
      }
    }
  }
}
