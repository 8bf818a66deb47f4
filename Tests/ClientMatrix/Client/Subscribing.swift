import Delegation
import DelegationTesting

nonisolated enum Trace {
  @TaskLocal static var id = 0
}

func subscribing(from caller: isolated (any Actor)?) async {
  let hub = DelegateHub()
  let queue = Place.makeExecutor()
  let (bouncer, book, porch) = (Bouncer(), GuestBook(), Porch())

  let subscription = hub.subscribe(
    bouncer, to: (any Door).self, priority: 1, id: "front door", hold: .weakly,
    mailbox: .dropOldest(limit: 10), on: queue)
  hub.subscribe(book, to: (any Door).self, priority: 2, mailbox: .dropOldest(limit: 10), on: queue)
  hub.subscribe(porch, to: (any Door).self, hold: .strongly, mailbox: .latest)
  hub.subscribe(porch, to: (any Door).self, mailbox: .unbounded)
  let both = hub.subscribe(bouncer, toEachOf: (any Bell).self, (any View).self, on: queue)
  Checks.expect(both.count, is: 1)

  // On the queue runs what is synchronous, and what is asynchronous of those that live nowhere.
  await hub[(any Door).self].notifyAndWait { door in
    door.didEnter("Alice")
    await door.greet("Alice")
  }
  bouncer.log.expect("didEnter", "greet", at: .queue)
  book.log.expect(Visit("didEnter", .queue), Visit("greet", .queue))
  porch.log.expect(Visit("didEnter", .pool), Visit("greet", .mainActor))
  await hub[(any Bell).self].notifyAndWait { await $0.ring() }
  bouncer.log.expect("ring", at: .queue)

  let subscribers = hub[(any Door).self].subscribers
  Checks.expect(subscribers.map { "\(type(of: $0))" }, is: ["GuestBook", "Bouncer", "Porch"])
  Checks.expect(subscription.statistics.counts.handled, is: 1)

  await subscription.cancelAndWait()
  Checks.expect(subscription.isActive, is: false)
  hub[(any Door).self].unsubscribe(book)
  await hub.unsubscribeAndWait(porch)
  Checks.expect(hub[(any Door).self].isEmpty, is: true)

  hub.subscribe(bouncer, to: (any Door).self, id: 7)
  hub.unsubscribe(id: 7)
  hub.subscribe(porch, to: (any Door).self)
  hub[(any Door).self].unsubscribeAll()
  hub.unsubscribe(bouncer)
  Checks.expect(hub[(any Door).self].count, is: 0)
}

func counting(from caller: isolated (any Actor)?) async {
  let incidents = Recorder<DelegateHub.Incident>()
  let hub = DelegateHub(
    DelegateHub.Configuration(
      executor: Place.makeExecutor(), clock: SuspendingClock(),
      onIncident: { incidents.record($0) }, slowAfter: .seconds(60),
      propagating: [.taskLocal(Trace.$id)]))
  let (bouncer, porch) = (Bouncer(), Porch())
  hub.subscribe(bouncer, to: (any Door).self)
  hub.subscribe(porch, to: (any Door).self)

  // On the hub's executor, with the poster's task-local.
  let ids = Recorder<Int>()
  Trace.$id.withValue(1) {
    hub[(any Door).self].notify { door in
      ids.record(Trace.id)
      door.didEnter("Alice")
    }
  }
  await hub.drain()
  Checks.expect(ids.events, is: [1, 1])
  bouncer.log.expect("didEnter", at: .queue)
  porch.log.expect("didEnter", at: .queue)

  // A main-actor subscriber stays there, whatever the hub's executor is.
  hub[(any Door).self].notify { await $0.greet("Alice") }
  await hub.drain()
  bouncer.log.expect("greet", at: .queue)
  porch.log.expect("greet", at: .mainActor)

  hub[(any Door).self].notify { _ in throw Refusal() }
  await hub.drain()
  Checks.expect(incidents.events.map(\.kind), is: [.failed, .failed])
  let statistics = hub.statistics()
  Checks.expect([statistics.counts.failed, statistics.posted], is: [2, 3])
  Checks.expect(statistics.counts.addressed, is: statistics.addressed)
}

func delegating(from caller: isolated (any Actor)?) async {
  let doors = Delegates<any Door>()
  let (bouncer, porch) = (Bouncer(), Porch())
  let subscription = doors.registry.subscribe(bouncer, priority: 1)
  doors.registry.subscribe(porch, on: Place.makeExecutor())
  Checks.expect(doors.count, is: doors.subscribers.count)
  Checks.expect(doors.isEmpty, is: false)

  doors.notify { $0.didEnter("Alice") }
  let outcome = await doors.notifyAndWait(within: .seconds(60)) { await $0.greet("Bob") }
  Checks.expect(outcome.isHandled, is: true)
  bouncer.log.expect("didEnter", "greet", at: .pool)
  porch.log.expect(Visit("didEnter", .queue), Visit("greet", .mainActor))
  doors.conforming(to: (any Bell).self).notify { await $0.ring() }
  await doors.hub.drain()
  bouncer.log.expect("ring", at: .pool)

  let club = Club(hub: doors.hub)
  let left = await club.admit("Alice", by: .unanimous(ofAtLeast: 2))
  Checks.expect(left.isEmpty, "\(left)")

  subscription.cancel()
  doors.registry.unsubscribe(bouncer)
  await club.doors.unsubscribeAndWait(porch)
  Checks.expect(doors.isEmpty, is: true)
  doors.finish()
}
