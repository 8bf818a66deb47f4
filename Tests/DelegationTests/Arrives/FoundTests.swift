import Delegation
import DelegationTesting
import Dispatch
import Testing

/// What was found in the fourth edition, row by row.
@Suite("Found in the fourth edition", .inTurn)
struct FoundTests {
  @Test("what waits for an executor that stands still does not keep the hub (U1)")
  func standingExecutor() async {
    let lifetimes = Lifetimes()
    let executor = ManualExecutor()
    var events: Events<Int>? = Events<Int>()
    weak let hub = events?.hub
    guard let stream = events?.registry.stream() else { return }
    let loop = Task { await stream.reduce(into: []) { $0.append($1) } }
    let kept = Hearer { [tracked = lifetimes.make()] _ in _ = tracked }
    func subscribe(_ kept: consuming Hearer) {
      hub?.subscribe(kept, to: (any Hearing).self, hold: .strongly)
    }
    subscribe(consume kept)
    let (ended, waiting) = (Hearer(), Recorder<Int>())
    let open = Hearer { waiting.record($0) }
    let token = hub?.subscribe(ended, to: (any Hearing).self, on: executor)
    let openToken = hub?.subscribe(open, to: (any Hearing).self, on: executor)
    hub?[(any Hearing).self].notify { try await $0.hear(1) }
    _ = await hub?.drain(within: .milliseconds(20))
    token?.cancel()
    events = nil
    #expect(await loop.value == [])
    while hub != nil || lifetimes.alive > 0 { await Task.yield() }
    // What was posted for the other one is delivered all the same, and then its subscription ends.
    #expect(openToken?.isActive == true)
    while openToken?.isActive == true {
      executor.run()
      await Task.yield()
    }
    #expect(waiting.events == [1])
    withExtendedLifetime((ended, open)) {}
  }

  @Test("unsubscribing an object ends what it observes with, and waits for that (U2)")
  func owners() async {
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

  @Test("at the deadline a wait only looks at who is left (U4)")
  func waitsTogether() async {
    let clock = ManualClock()
    let hub = DelegateHub(.with { $0.clock = clock })
    let gate = Gate()
    let hanging = Hearer { _ in await gate.pass() }
    let delegates = hub[(any Hearing).self]
    for number in 1...300 {
      hub.subscribe(hanging, to: (any Hearing).self)
      Task {
        try? await delegates.vote {
          try await $0.hear(1)
          return true
        }
      }
      await gate.arrivals(number)
      hub.unsubscribe(hanging)
    }
    let left = Task { await hub.unsubscribeAndWait(hanging, within: .milliseconds(50)) }
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(50))
    #expect(await left.value.subscribers.count == 300)
    // One wait, and 299 looks: no further deadline was set.
    #expect(clock.sleepers == 0)
    gate.open()
    await hub.drain()
  }

  @Test("cancel holds though another subscription takes the id at that moment (U5)")
  @MainActor
  func cancelBesideTakeOver() async {
    for _ in races(300) {
      let delegates = Delegates<any Hearing>()
      let heard = Recorder<String>()
      let first = Hearer()
      let second = Hearer()
      let token = delegates.registry.subscribe(first, id: "one")
      delegates.notify { @MainActor in heard.record($0 === first ? "first" : "second") }
      let taking = Task.detached { delegates.registry.subscribe(second, id: "one") }
      for _ in 0..<Int.random(in: 0..<200) where heard.count == 0 { Threads.pause() }
      token.cancel()
      let count = heard.count
      _ = await taking.value
      await delegates.hub.drain()
      #expect(heard.events.dropFirst(count).filter { $0 == "first" }.isEmpty)
    }
  }

  @Test("a closure that is never called has not handled the event (U6), nor answered (U7)")
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

  @Test("leftovers name an ended one by its own id, as long as its handler runs (U8)")
  func namesOfEnded() async {
    let delegates = Delegates<any Hearing>()
    let gate = Gate()
    let hanging = Hearer { _ in await gate.pass() }
    for (number, name) in ["a", "b"].enumerated() {
      let token = delegates.registry.subscribe(hanging, id: name)
      delegates.notify { try await $0.hear(1) }
      await gate.arrivals(number + 1)
      if name == "a" { token.cancel() }
    }
    let drained = await delegates.hub.drain(within: .zero)
    #expect(drained.subscribers.map { $0.subscriber.suffix(3) }.sorted() == ["(a)", "(b)"])
    let left = await delegates.hub.unsubscribeAndWait(hanging, within: .zero)
    #expect(left.subscribers.map { $0.subscriber.suffix(3) }.sorted() == ["(a)", "(b)"])
    gate.open()
    await delegates.hub.drain()
    #expect(left.subscribers.first?.subscription.statistics.subscriber.contains("(") == false)
  }

  @Test("dead owners do not pile up though nobody posts (U9)")
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

  @Test("one that is replaced by id before its turn is followed, in all calls (U10)")
  func replacedBeforeItsTurn() async {
    for call in TakeOverCallTests.calls {
      let delegates = Delegates<any Numbered>()
      let (first, heir, last) = (NumberedMember(1), NumberedMember(2), NumberedMember(4))
      let replacing = NumberedMember(0) { delegates.registry.subscribe(heir, id: "place") }
      delegates.registry.subscribe(replacing)
      delegates.registry.subscribe(first, id: "place")
      delegates.registry.subscribe(last)
      let heard = await call.perform(delegates)
      // With a deadline the second one may be asked while the first one is.
      let isKnown =
        heard == [0, 2, 4] || call.testDescription.hasSuffix("deadline") && heard == [0, 1, 4]
      #expect(isKnown, "\(call): \(heard)")
      withExtendedLifetime((first, heir, last)) {}
    }
  }

  @Test("what a worker has taken for one that only the hub keeps is not lost when it is replaced")
  @MainActor
  func keptAndReplaced() async {
    let delegates = Delegates<any Hearing>()
    let lifetimes = Lifetimes()
    let heard = Recorder<Int>()
    func subscribe() -> DelegateHub.Subscription {
      let hearer = Hearer { [tracked = lifetimes.make()] _ in _ = tracked }
      return delegates.registry.subscribe(hearer, id: "audit", hold: .strongly)
    }
    let token = subscribe()
    // Its handler waits for this actor until this function awaits.
    let outcome = Task.detached {
      await delegates.notifyAndWait { @MainActor _ in heard.record(1) }
    }
    while token.statistics.running == 0 { Threads.pause() }
    let heir = subscribe()
    let counts = await outcome.value
    #expect(counts.isHandled && heard.events == [1], "\(counts)")
    heir.cancel()
    await delegates.hub.drain()
    while lifetimes.alive > 0 { await Task.yield() }
  }

  @Test("what .latest drops, and an owner that dies before the first event, are none (U13)")
  func noIncidents() async {
    let incidents = Recorder<DelegateHub.Incident.Kind>()
    let hub = DelegateHub(.with { $0.onIncident = { incidents.record($0.kind) } })
    let events = Events<Int>(of: hub)
    let gate = Gate()
    func observe(_ policy: DelegateHub.MailboxPolicy) -> DelegateHub.Subscription {
      events.registry.observe(mailbox: policy) { _ in await gate.pass() }
    }
    let (latest, limited) = (observe(.latest), observe(.dropOldest(limit: 2)))
    events.post(0)
    await gate.arrivals(2)
    for number in 1...5 { events.post(number) }
    for _ in 0..<3 {
      let owner = Hearer()
      events.registry.observe(with: owner) { _, _ in }
      withExtendedLifetime(owner) {}
    }
    _ = events.registry.stream()
    events.post(6)
    gate.open()
    await hub.drain()
    #expect(latest.statistics.counts.dropped == 5 && limited.statistics.counts.dropped == 4)
    #expect(incidents.events == [.dropped])
  }

  @Test("events, closures and streams have the names that their users know (U14)")
  func names() async {
    let events = Events<[Int]>()
    events.registry.observe { _ in }
    let owner = Hearer()
    events.registry.observe(with: owner, id: "view") { _, _ in }
    let stream = events.registry.stream()
    events.post([1])
    #expect(events.statistics?.name == "Events<Array<Int>>")
    let names = events.hub.statistics().protocols.flatMap(\.subscribers).map(\.subscriber)
    #expect(names == ["a closure", "a closure (view)", "a stream"])
    withExtendedLifetime((owner, stream)) {}
  }
}
