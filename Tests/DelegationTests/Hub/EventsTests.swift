import Testing

@testable import Delegation

private enum DoorEvent: Sendable, Hashable {
  case joined(String)
  case left(String)
}

private final class Guestbook: EventReceiver {
  let events = Recorder<DoorEvent>()
  func receive(_ event: DoorEvent) { events.record(event) }
}

private final class Owner: Sendable {
  let heard = Recorder<Int>()
}

@MainActor
private final class Screen {
  var numbers: [Int] = []
}

@Suite("Events: closures and objects that observe", .inTurn)
struct EventsTests {
  @Test("an event reaches objects and closures, each in the order of posting")
  func everybody() async {
    let events = Events<DoorEvent>()
    let (book, plain) = (Guestbook(), Recorder<DoorEvent>())
    let awaiting = Recorder<DoorEvent>()
    events.registry.subscribe(book)
    events.registry.observe { plain.record($0) }
    events.registry.observe { event in
      await Task.yield()
      awaiting.record(event)
    }
    let all = (0..<50).map { DoorEvent.joined("\($0)") } + [.left("0")]
    for event in all { events.post(event) }
    await events.hub.drain()
    #expect(book.events.history == all)
    #expect(plain.history == all)
    #expect(awaiting.history == all)
  }

  private func key<Event: Sendable>(of type: Event.Type) -> ObjectIdentifier {
    ObjectIdentifier((any EventReceiver<Event>).self)
  }

  @Test("events of one type have one key, wherever its name stands, and no other type's")
  func keys() async {
    #expect(key(of: Int.self) == ObjectIdentifier((any EventReceiver<Int>).self))
    #expect(key(of: [Int].self) == ObjectIdentifier((any EventReceiver<Array<Int>>).self))
    #expect(key(of: Int.self) != key(of: Int?.self))
    let hub = DelegateHub()
    let (numbers, texts) = (Recorder<Int>(), Recorder<String>())
    hub[(any EventReceiver<Int>).self].registry.observe { numbers.record($0) }
    Events<String>(of: hub).registry.observe { texts.record($0) }
    Events<Int>(of: hub).post(1)
    Events<String>(of: hub).post("a")
    hub[(any EventReceiver<Int>).self].notify() { try await $0.receive(2) }
    await hub.drain()
    #expect(numbers.history == [1, 2])
    #expect(texts.history == ["a"])
  }

  @Test("statistics and incidents name who observes, and the line")
  func names() async throws {
    let incidents = Recorder<DelegateHub.Incident>()
    let hub = DelegateHub { $0.onIncident = { incidents.record($0) } }
    let events = Events<Int>(of: hub)
    let owner = Owner()
    let heard = Recorder<Int>()
    events.registry.observe(id: "first") { _ in throw Refusal(reason: "no") }
    events.registry.observe { heard.record($0) }
    let line = #line - 1
    events.registry.observe(with: owner) { $0.heard.record($1) }
    let stream = events.registry.stream()
    events.post(1)
    await hub.drain()
    let incident = try #require(await incidents.events(atLeast: 1).first)
    #expect(incident.kind == .failed)
    #expect(incident.reason == "no")
    #expect(incident.subscriber == "Delegation.EventObserver<Swift.Int> (first)")
    #expect(incident.site == "DelegationTests/EventsTests.swift:\(line - 1)")
    #expect(heard.history == [1])
    let subscribers = await hub.statistics().protocols[0].subscribers
    #expect(subscribers.map(\.counts.failed) == [1, 0, 0, 0])
    #expect(
      subscribers.map(\.site)
        == [-1, 0, 2, 3].map { "DelegationTests/EventsTests.swift:\(line + $0)" })
    #expect(
      subscribers[1...].map(\.subscriber).map { $0.prefix { $0 != "<" } } == [
        "Delegation.EventObserver", "Delegation.OwnedObserver", "Delegation.EventStream",
      ])
    withExtendedLifetime((owner, stream)) {}
  }

  @Test("the options are those of a subscription")
  func options() async {
    let events = Events<Int>()
    let heard = Recorder<String>()
    let queue = MarkedQueue.make("events")
    let executor = DispatchQueueExecutor(queue)
    let gate = Gate()
    events.registry.observe(on: queue) { _ in heard.record(MarkedQueue.current) }
    events.registry.observe(with: gate, on: queue) { _, _ in heard.record(MarkedQueue.current) }
    events.registry.observe(id: 1, on: executor) { heard.record("old \($0)") }
    events.registry.observe(priority: 1, mailbox: .latest, on: executor) {
      heard.record("first \($0)")
      await gate.pass()
    }
    events.registry.observe(id: 1) { heard.record("new \($0)") }
    events.post(1)
    #expect(await heard.events(atLeast: 4).sorted() == ["events", "events", "first 1", "new 1"])
    for number in 2...4 { events.post(number) }
    gate.open()
    await events.hub.drain()
    #expect(heard.history.filter { $0.hasPrefix("first") } == ["first 1", "first 4"])
  }

  @Test("the hub keeps a closure until its subscription is cancelled, and no longer")
  func kept() async {
    let events = Events<Int>()
    let (lifetimes, heard) = (Lifetimes(), Recorder<Int>())
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
    events.registry.observe { _ in }.cancel()
    #expect(lifetimes.alive == 1)
    events.post(2)
    await events.hub.drain()
    #expect(heard.history == [1, 1, 2])
    events.hub.unsubscribeAll(from: (any EventReceiver<Int>).self)
    #expect(lifetimes.alive == 0)
  }

  @Test("closures are released with the hub")
  func released() {
    let lifetimes = Lifetimes()
    func observe() {
      let events = Events<Int>()
      let (tracked, owner) = (lifetimes.make(), lifetimes.make())
      events.registry.observe { _ in withExtendedLifetime(tracked) {} }
      events.registry.observe(with: owner) { _, _ in withExtendedLifetime(tracked) {} }
    }
    observe()
    #expect(lifetimes.alive == 0)
  }

  @Test("observing with an object ends with it, as an object's own subscription does")
  func owners() async {
    let events = Events<Int>()
    let lifetimes = Lifetimes()
    let survivor = Owner()
    let others = survivor.heard
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
    #expect(subscriptions.map(\.isActive) == [false, false])
    #expect(events.isEmpty)
    events.registry.observe(with: survivor) { $0.heard.record($1) }
    #expect(events.count == 1)
    events.post(2)
    await events.hub.drain()
    #expect(others.history == [2])
    #expect(lifetimes.alive == 0)
    let counts = subscriptions.map(\.statistics.counts)
    #expect(counts.map(\.handled) == [1, 1])
    let accounts = await events.hub.accounts()
    #expect(accounts.handled == 3)
  }

  @Test("no call reaches an observer whose object has died", arguments: 0..<6)
  func deadOwner(call: Int) async {
    let events = Events<Int>(of: DelegateHub { $0.onIncident = { _ in } })
    let called = Recorder<Int>()
    let subscription = events.registry.observe(with: Owner()) { _, _ in }
    switch call {
    case 0: events.forEach { _ in called.record(0) }
    case 1: await events.forEach { _ async in called.record(1) }
    case 2: events.notify { _ in called.record(2) }
    case 3: await events.notifyAndWait { _ async in called.record(3) }
    case 4: #expect(await !events.vote(by: .unanimous(ofAtLeast: 1)) { _ in true })
    default: #expect(events.subscribers.isEmpty)
    }
    await events.hub.drain()
    #expect(called.history == [])
    #expect(!subscription.isActive)
    #expect(events.isEmpty)
    #expect(subscription.statistics.questions.asked == 0)
    #expect(subscription.statistics.counts.handled == 0)
  }

  @Test(
    "an event that finds the object dead is counted as expired, and nobody heard is an incident")
  func unheard() async {
    let incidents = Recorder<DelegateHub.Incident.Kind>()
    let hub = DelegateHub { $0.onIncident = { incidents.record($0.kind) } }
    let events = Events<Int>(of: hub)
    let subscription = events.registry.observe(with: Owner()) { $0.heard.record($1) }
    events.post(1)
    await hub.drain()
    #expect(!subscription.isActive)
    #expect(subscription.statistics.counts.expired == 1)
    #expect(incidents.history == [.unheard])
  }

  @Test("an object that dies while its event waits is not called")
  func dyingInBetween() async {
    let events = Events<Int>()
    let (gate, heard) = (Gate(), Recorder<Int>())
    let queue = DispatchQueueExecutor(.init(label: "busy"))
    let blockade = Blockade()
    queue.queue.async { blockade.enter() }
    await blockade.entry()
    var owner: Owner? = Owner()
    let subscription = owner.map {
      events.registry.observe(with: $0, on: queue) { _, number in heard.record(number) }
    }
    events.post(1)
    while subscription?.statistics.counts.waiting == 0 { await Task.yield() }
    owner = nil
    #expect(blockade.end())
    await events.hub.drain()
    gate.open()
    #expect(heard.history == [])
    #expect(subscription?.statistics.counts.expired == 1)
  }

  @Test("a closure that was removed on the main actor is not called there afterwards")
  @MainActor
  func mainActor() async {
    let events = Events<Int>()
    let screen = Screen()
    let heard = Recorder<String>()
    let subscriptions = [
      events.registry.observe { @MainActor number in heard.record("plain \(number)") },
      events.registry.observe(with: screen) { @MainActor screen, number in
        screen.numbers.append(number)
        await Task.yield()
        heard.record("with \(number)")
      },
    ]
    events.post(1)
    await events.hub.drain()
    #expect(heard.history.sorted() == ["plain 1", "with 1"])
    #expect(screen.numbers == [1])
    events.post(2)
    // Both wait for the main actor, which this keeps.
    while !subscriptions.allSatisfy({ $0.statistics.counts.handling == 1 }) { Threads.pause() }
    for subscription in subscriptions { subscription.cancel() }
    await events.hub.drain()
    #expect(heard.history.count == 2)
    #expect(screen.numbers == [1])
  }

  @Test("a closure can end its own observation, post, and observe")
  func reentrancy() async {
    let events = Events<Int>()
    let heard = Recorder<String>()
    let token = Lock<DelegateHub.Subscription?>(nil)
    let subscription = events.registry.observe { number in
      heard.record("a \(number)")
      token.withLock { $0 }?.cancel()
      events.post(number + 1)
      events.registry.observe { heard.record("b \($0)") }
      events.post(number + 2)
    }
    token.withLock { $0 = subscription }
    events.post(1)
    await events.hub.drain()
    #expect(heard.history == ["a 1", "b 3"])
  }
}
