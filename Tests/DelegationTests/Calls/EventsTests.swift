import Delegation
import Testing

private final class Guestbook: EventReceiver {
  let events = Recorder<String>()
  func receive(_ event: String) { events.record(event) }
}

private final class Owner: Sendable {
  let heard = Recorder<Int>()
}

/// Streams have suites of their own.
@Suite("Events: closures and objects that observe", .inTurn)
struct EventsTests {
  @Test("an event reaches objects and closures in the order of posting; one type has one key")
  func everybody() async {
    let hub = DelegateHub()
    let events = Events<String>(of: hub)
    let (book, plain) = (Guestbook(), Recorder<String>())
    let (awaiting, numbers) = (Recorder<String>(), Recorder<Int>())
    events.registry.subscribe(book)
    hub[(any EventReceiver<String>).self].registry.observe { plain.record($0) }
    Events<String>(of: hub).registry.observe { event in
      await Task.yield()
      awaiting.record(event)
    }
    Events<Int>(of: hub).registry.observe { numbers.record($0) }
    let all = (0..<50).map { "\($0)" }
    for event in all { events.post(event) }
    Events<Int>(of: hub).post(1)
    Events<Int?>(of: hub).post(2)
    hub[(any EventReceiver<Int>).self].notify { try await $0.receive(3) }
    await hub.drain()
    for heard in [book.events, plain, awaiting] { #expect(heard.history == all) }
    #expect(numbers.history == [1, 3])
  }

  @Test("incidents and statistics name the line")
  func names() async throws {
    let incidents = Recorder<DelegateHub.Incident>()
    let hub = DelegateHub(.init(onIncident: { incidents.record($0) }))
    let events = Events<Int>(of: hub)
    let owner = Owner()
    events.registry.observe(id: "first") { _ in throw Refusal(reason: "no") }
    events.registry.observe { _ in }
    events.registry.observe(with: owner) { $0.heard.record($1) }
    let line = #line - 1
    let stream = events.registry.stream()
    #expect(hub.statistics().protocols.map(\.name) == ["Events<Int>"])
    let closure = "a closure"
    let names = hub.statistics().protocols[0].subscribers.map(\.subscriber)
    #expect(names == ["\(closure) (first)", closure, closure, "a stream"])
    stream.subscription.cancel()
    events.post(1)
    await hub.drain()
    let incident = try #require(await incidents.events(atLeast: 1).first)
    #expect(incident.kind == .failed && incident.error as? Refusal == Refusal(reason: "no"))
    #expect(incident.subscriber.hasSuffix("(first)"))
    let sites = [-2, -1, 0].map { "DelegationTests/EventsTests.swift:\(line + $0)" }
    #expect(incident.site == sites[0])
    let subscribers = hub.statistics().protocols[0].subscribers
    #expect(subscribers.map(\.counts.failed) == [1, 0, 0] && subscribers.map(\.site) == sites)
    withExtendedLifetime(owner) {}
  }

  @Test("the options are those of a subscription")
  func options() async {
    let events = Events<Int>()
    let (heard, gate) = (Recorder<String>(), Gate())
    let queue = DispatchQueueExecutor(MarkedQueue.make("events"))
    events.registry.observe(on: queue) { _ in heard.record(MarkedQueue.current) }
    events.registry.observe(with: gate, on: queue) { _, _ in heard.record(MarkedQueue.current) }
    events.registry.observe(id: 1, on: queue) { heard.record("old \($0)") }
    events.registry.observe(priority: 1, mailbox: .latest, on: queue) {
      heard.record("first \($0)")
      await gate.pass()
    }
    events.registry.observe(id: 1) { heard.record("new \($0)") }
    events.post(1)
    #expect(await heard.history(of: 4).sorted() == ["events", "events", "first 1", "new 1"])
    for number in 2...4 { events.post(number) }
    gate.open()
    await events.hub.drain()
    #expect(heard.history.filter { $0.hasPrefix("first") } == ["first 1", "first 4"])
  }

  @Test("the hub keeps a closure until its subscription is cancelled, and no longer than itself")
  func kept() async {
    let (lifetimes, heard) = (Lifetimes(), Recorder<Int>())
    func play() async {
      let events = Events<Int>()
      func observe() -> DelegateHub.Subscription {
        let tracked = lifetimes.make()
        return events.registry.observe { number in
          withExtendedLifetime(tracked) { heard.record(number) }
        }
      }
      let token = observe()
      _ = observe()
      events.post(1)
      await events.hub.drain()
      #expect(lifetimes.alive == 2)
      token.cancel()
      await lifetimes.shrink(to: 1)
      #expect(lifetimes.alive == 1)
      events.post(2)
      await events.hub.drain()
      #expect(heard.history == [1, 1, 2])
      let (tracked, owner) = (lifetimes.make(), lifetimes.make())
      events.registry.observe(with: owner) { _, _ in withExtendedLifetime(tracked) {} }
    }
    await play()
    await lifetimes.shrink()
  }

  @Test("observing with an object ends with it, as an object's own subscription does")
  func owners() async {
    let events = Events<Int>(of: DelegateHub(.init(onIncident: { _ in })))
    let (lifetimes, survivor) = (Lifetimes(), Owner())
    var owner: Owner? = Owner()
    var subscriptions: [DelegateHub.Subscription] = []
    if let owner {
      for factor in [1, 10] {
        let tracked = lifetimes.make()
        subscriptions.append(
          events.registry.observe(with: owner) { owner, number in
            withExtendedLifetime(tracked) { owner.heard.record(number * factor) }
          })
      }
      events.post(1)
      await events.hub.drain()
      #expect(owner.heard.history.sorted() == [1, 10])
    }
    #expect(subscriptions.map(\.isActive) == [true, true])
    owner = nil
    #expect(subscriptions.map(\.isActive) == [false, false] && events.isEmpty)
    events.registry.observe(with: survivor) { $0.heard.record($1) }
    #expect(events.count == 1)
    events.post(2)
    await events.hub.drain()
    #expect(survivor.heard.history == [2])
    #expect(subscriptions.map(\.statistics.counts.handled) == [1, 1])
    await lifetimes.shrink()
    #expect(events.hub.statistics().counts.handled == 3)
  }

  @Test("what an object observes with ends in the order of subscribing, however much it is")
  func ownersOrder() {
    let (events, owner, ended) = (Events<Int>(), Owner(), Recorder<Int>())
    for number in 0..<200 {
      let onEnd = DeathNotice { ended.record(number) }
      events.registry.observe(with: owner) { _, _ in withExtendedLifetime(onEnd) {} }
    }
    events.hub.unsubscribe(owner)
    #expect(ended.history == Array(0..<200) && events.isEmpty)
  }

  @Test("no call reaches an observer whose object has died", arguments: 0..<6)
  func deadOwner(call: Int) async {
    let incidents = Recorder<DelegateHub.Incident.Kind>()
    let events = Events<Int>(of: DelegateHub(.init(onIncident: { incidents.record($0.kind) })))
    let called = Recorder<Int>()
    let subscription = events.registry.observe(with: Owner()) { _, _ in called.record(0) }
    switch call {
    case 0: events.forEach { _ in called.record(0) }
    case 1: await events.forEach { _ async in called.record(1) }
    case 2: events.post(2)
    case 3: #expect(await events.notifyAndWait { _ async in called.record(3) }.isHandled == false)
    case 4: #expect(await !events.vote(by: .unanimous(ofAtLeast: 1)) { _ in true })
    default: #expect(events.subscribers.isEmpty)
    }
    await events.hub.drain()
    #expect(called.history == [] && !subscription.isActive && events.isEmpty)
    #expect(subscription.statistics.questions.description == asked())
    #expect(subscription.statistics.counts.expired == ((2...3).contains(call) ? 1 : 0))
    #expect(incidents.history == [])
  }

  @Test("a handler that calls an observer that is gone answers for itself")
  func callingTheDead() async {
    let (events, calls) = (Events<Int>(), Events<Int>())
    var owner: Owner? = Owner()
    owner.map { _ = events.registry.observe(with: $0) { _, _ in } }
    let dead = events.subscribers[0]
    owner = nil
    let gate = calls.registry.observe { try await dead.receive($0) }
    let isAllowed = await calls.vote { _ async in
      try? await dead.receive(1)
      return false
    }
    await calls.notifyAndWait { try await $0.receive(2) }
    #expect(!isAllowed && gate.isActive && gate.statistics.counts.handled == 1)
    #expect(gate.statistics.questions.description == asked(answered: 1))
  }

  @Test("an object that observes with itself while it is being released is dead")
  func observingInDeinit() {
    final class Dying: Sendable {
      let events: Events<Int>
      init(_ events: Events<Int>) { self.events = events }
      deinit { events.registry.observe(with: self) { _, _ in } }
    }
    let events = Events<Int>()
    _ = Dying(events)
    #expect(events.isEmpty)
  }

  @Test("unsubscribing an object ends what it observes with, and waits for that")
  func unsubscribedOwners() async {
    let events = Events<Int>()
    let owner = Hearer()
    let other = Hearer()
    let (inside, gate, heard) = (Gate(), Gate(), Recorder<String>())
    let tokens = (0..<3).map { number in
      events.registry.observe(with: owner) { _, event in
        inside.arrive()
        await gate.pass()
        heard.record("\(number): \(event)")
      }
    }
    let stays = events.registry.observe(with: other) { _, event in heard.record("other: \(event)") }
    events.hub.subscribe(owner, to: (any Hearing).self)
    events.post(1)
    await inside.arrivals(3)
    let left = await events.hub.unsubscribeAndWait(owner, within: .zero)
    #expect(left.subscribers.count == 3 && Set(left.subscribers.map(\.subscription)) == Set(tokens))
    #expect(!tokens.contains { $0.isActive } && stays.isActive)
    let waiting = Task { await events.hub.unsubscribeAndWait(owner) }
    #expect(await waiting.isWaiting)
    gate.open()
    _ = await waiting.value
    #expect(heard.events.count { $0.hasSuffix(": 1") } >= 3)
    events.post(2)
    await events.hub.drain()
    #expect(heard.events.filter { $0.hasSuffix("2") } == ["other: 2"])
    events.hub.unsubscribe(other)
    #expect(events.isEmpty)
  }

  @Test("an owner that is gone is no owner: another object at its address ends nothing else")
  func ownersAtOneAddress() async {
    let events = Events<Int>()
    let heard = Count()
    for _ in 0..<50 {
      let owner = Hearer()
      events.registry.observe(with: owner) { _, _ in heard.add(1) }
      events.hub.unsubscribe(owner)
    }
    #expect(events.isEmpty)
    let owner = Hearer()
    for _ in 0..<3 { events.registry.observe(with: owner) { _, _ in heard.add(1) } }
    events.hub.unsubscribe(Hearer())
    events.post(1)
    await events.hub.drain()
    #expect(heard.value == 3)
    withExtendedLifetime(owner) {}
  }

  @Test("a closure that is never called has not handled the event, nor answered")
  @MainActor
  func closureNotCalled() async {
    let events = Events<Int>()
    let heard = Recorder<Int>()
    func observe(with owner: Hearer?) -> DelegateHub.Subscription {
      owner.map { events.registry.observe(with: $0) { @MainActor in heard.record($1) } }
        ?? events.registry.observe { @MainActor in heard.record($0) }
    }
    for isOwned in [false, true] {
      var owner = isOwned ? Hearer() : nil
      let token = observe(with: owner)
      // Posted from here, it waits for this actor until this function awaits.
      let outcome = Task.detached { await events.notifyAndWait { try await $0.receive(1) } }
      while token.statistics.running == 0 { Threads.pause() }
      owner = nil
      if !isOwned { token.cancel() }
      let counts = await outcome.value
      #expect([counts.addressed, counts.handled, counts.missed] == [1, 0, 1])
      #expect(token.statistics.counts.handled == 0 && !token.isActive)
    }
    // A question, from two observers on.
    let tokens = (0..<3).map { _ in observe(with: nil) }
    let replies = Task.detached {
      await events.collect {
        try await $0.receive(2)
        return true
      }
    }
    while tokens.contains(where: { $0.statistics.running == 0 }) { Threads.pause() }
    for token in tokens.dropFirst() { token.cancel() }
    #expect(await replies.value.count == 1)
    #expect(heard.events == [2] && events.statistics?.questions.answered == 1)
  }

  @Test("dead owners do not pile up though nobody posts")
  func deadOwners() async {
    let events = Events<Int>()
    let lifetimes = Lifetimes()
    for number in 0..<Effort.count(20_000, atLeast: 5_000) {
      let owner = Hearer()
      events.registry.observe(with: owner) { [tracked = lifetimes.make()] _, _ in _ = tracked }
      withExtendedLifetime(owner) {}
      if number % 1_000 == 0 { await events.hub.drain() }
    }
    await events.hub.drain()
    #expect(lifetimes.alive <= 1_024)
  }
}
