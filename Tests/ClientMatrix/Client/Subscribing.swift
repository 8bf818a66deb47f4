import Delegation
import DelegationTesting

nonisolated enum Trace {
  @TaskLocal static var id = 0
}

func subscribing(from caller: isolated (any Actor)?) async {
  let hub = DelegateHub()
  let queue = Place.makeQueue()
  let (bouncer, book, porch) = (Bouncer(), GuestBook(), Porch())

  let subscription = hub.subscribe(
    bouncer, to: (any Door).self, priority: 1, id: "front door", hold: .weakly,
    mailbox: .dropOldest(limit: 10), on: DispatchQueueExecutor(queue))
  hub.subscribe(book, to: (any Door).self, priority: 2, mailbox: .dropNewest(limit: 10), on: queue)
  hub.subscribe(porch, to: (any Door).self, hold: .strongly, mailbox: .latest)
  hub.subscribe(porch, to: (any Door).self, mailbox: .unbounded)
  let both = hub.subscribe(bouncer, toEachOf: (any Bell).self, (any View).self, on: queue)
  Checks.expect(both.count, is: 1)

  // On the queue runs what is synchronous, and what is asynchronous of those that live nowhere.
  await hub.notifyAndWait((any Door).self) { door in
    door.didEnter("Alice")
    await door.greet("Alice")
  }
  bouncer.log.expect("didEnter", "greet", at: .queue)
  book.log.expect(Visit("didEnter", .queue), Visit("greet", .queue))
  porch.log.expect(Visit("didEnter", .pool), Visit("greet", .mainActor))
  await hub.notifyAndWait((any Bell).self) { await $0.ring() }
  bouncer.log.expect("ring", at: .queue)

  let subscribers = hub.subscribers(of: (any Door).self)
  Checks.expect(subscribers.map { "\(type(of: $0))" }, is: ["GuestBook", "Bouncer", "Porch"])
  Checks.expect(subscription.statistics.counts.handled, is: 1)

  await subscription.cancelAndWait()
  Checks.expect(subscription.isActive, is: false)
  hub.unsubscribe(book, from: (any Door).self)
  await hub.unsubscribeAndWait(porch)
  Checks.expect(hub.hasSubscribers(of: (any Door).self), is: false)

  hub.subscribe(bouncer, to: (any Door).self, id: 7)
  hub.unsubscribe(id: 7)
  hub.subscribe(book, to: (any Door).self).cancel()
  hub.subscribe(porch, to: (any Door).self)
  hub.unsubscribeAll(from: (any Door).self)
  hub.unsubscribe(bouncer)
  let count = hub.subscriberCount(of: (any Door).self)
  Checks.expect(count, is: 0)
}

func counting(from caller: isolated (any Actor)?) async {
  let incidents = Recorder<DelegateHub.Incident>()
  let hub = DelegateHub(
    DelegateHub.Configuration(
      executor: DispatchQueueExecutor(Place.makeQueue()), clock: SuspendingClock(),
      onIncident: { incidents.record($0) }, slowAfter: .seconds(60),
      propagating: [.taskLocal(Trace.$id)]))
  let (bouncer, porch) = (Bouncer(), Porch())
  hub.subscribe(bouncer, to: (any Door).self)
  hub.subscribe(porch, to: (any Door).self)

  // On the hub's executor, with the poster's task-local.
  let ids = Recorder<Int>()
  Trace.$id.withValue(1) {
    hub.notify((any Door).self) { door in
      ids.record(Trace.id)
      door.didEnter("Alice")
    }
  }
  await hub.drain()
  Checks.expect(ids.events, is: [1, 1])
  bouncer.log.expect("didEnter", at: .queue)
  porch.log.expect("didEnter", at: .queue)

  // A main-actor subscriber stays there, whatever the hub's executor is.
  hub.notify((any Door).self) { await $0.greet("Alice") }
  await hub.drain()
  bouncer.log.expect("greet", at: .queue)
  porch.log.expect("greet", at: .mainActor)

  hub.notify((any Door).self) { _ in throw Refusal() }
  let isAdmitted = await hub.vote((any Door).self, absent: .counts(as: false)) { _ in
    throw Refusal()
  }
  Checks.expect(isAdmitted, is: false)
  await hub.drain()
  Checks.expect(
    incidents.events.map(\.kind).filter { $0 == .failed }.count >= 3, "\(incidents.events)")
  let statistics = await hub.statistics()
  Checks.expect(statistics.counts.failed, is: 2)
  Checks.expect(statistics.protocols.map(\.posted), is: [3])
  Checks.expect(statistics.counts.addressed, is: statistics.addressed)
}

func delegating(from caller: isolated (any Actor)?) async {
  let doors = Delegates<any Door>()
  let (bouncer, porch) = (Bouncer(), Porch())
  let subscription = doors.registry.subscribe(bouncer, priority: 1)
  doors.registry.subscribe(porch, on: Place.makeQueue())
  let count = doors.count
  let subscribers = doors.subscribers
  Checks.expect(count, is: subscribers.count)
  Checks.expect(doors.isEmpty, is: false)

  doors.notify { $0.didEnter("Alice") }
  doors.notify { await $0.greet("Alice") }
  await doors.notifyAndWait(within: .seconds(60)) { await $0.greet("Bob") }
  bouncer.log.expect("didEnter", "greet", "greet", at: .pool)
  porch.log.expect(
    Visit("didEnter", .queue), Visit("greet", .mainActor), Visit("greet", .mainActor))

  doors.conforming(to: (any Bell).self).notify { await $0.ring() }
  await doors.hub.drain()
  bouncer.log.expect("ring", at: .pool)

  let votes = [
    await doors.vote { await $0.mayEnter("Alice") },
    await doors.vote(within: .seconds(60), absent: .abstains) { await $0.mayEnter("Alice") },
    await doors.ask(combining: .anyone) { await $0.mayEnter("Alice") },
    await doors.ask(combining: .anyone, within: .seconds(60), absent: .abstains) {
      await $0.mayEnter("Alice")
    },
  ]
  Checks.expect(votes, is: [true, true, true, true])
  let replies = await doors.collect(within: .seconds(60)) { await $0.mayEnter("Alice") }
  Checks.expect(replies.compactMap { try? $0.result.get() }, is: [true, true])
  let inTurn: [Bool?] = [
    await doors.askInTurn { await $0.mayEnter("Alice") },
    await doors.askInTurn(absent: .abstains) { await $0.mayEnter("Alice") },
    await doors.pass(true) { await $0.mayEnter("Alice") && $1 },
    await doors.pass(true, absent: .abstains) { await $0.mayEnter("Alice") && $1 },
  ]
  Checks.expect(inTurn, is: [true, true, true, true])

  let club = Club(hub: doors.hub)
  let left = await club.admit("Alice", by: .unanimous(ofAtLeast: 2))
  Checks.expect(left.isEmpty, "\(left)")

  subscription.cancel()
  doors.registry.unsubscribe(bouncer)
  await club.doors.unsubscribeAndWait(porch)
  Checks.expect(doors.isEmpty, is: true)
}
