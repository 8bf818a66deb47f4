import Testing

@testable import Delegation

@Suite("Guarantee 13: identity", .inTurn)
struct Guarantee13IdentityTests {
  @Test("subscribing again is the same subscription, in the same place, and called once")
  func again() async {
    let hub = DelegateHub()
    let probes = Probe.many(3)
    let subscriptions = probes.map { hub.subscribe($0, to: Listener.self) }
    for probe in probes.reversed() {
      let again = hub.subscribe(probe as any Listener, to: Listener.self)
      #expect(again == subscriptions[Int(probe.name)!])
      #expect(again.hashValue == subscriptions[Int(probe.name)!].hashValue)
    }
    #expect(Set(subscriptions).count == 3)
    hub[Listener.self].notify() { $0.log.record(1) }
    await hub.drain()
    #expect(probes.map(\.log.history) == [[1], [1], [1]])
    #expect(await hub[Listener.self].ask(combining: .all()) { $0.name } == ["0", "1", "2"])
    #expect(hub[Listener.self].count == 3)
  }

  @Test("subscribing again changes the priority, and the place among equals is kept")
  func priority() async {
    let hub = DelegateHub()
    let probes = Probe.many(4)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    func order() async -> String {
      await hub[Listener.self].ask(combining: .all()) { $0.name }.joined()
    }
    #expect(await order() == "0123")
    hub.subscribe(probes[1], to: Listener.self, priority: -1)
    #expect(await order() == "0231")
    hub.subscribe(probes[3], to: Listener.self, priority: 5)
    #expect(await order() == "3021")
    hub.subscribe(probes[2], to: Listener.self, priority: 5)
    #expect(await order() == "2301")
    for probe in probes.reversed() { hub.subscribe(probe, to: Listener.self) }
    #expect(await order() == "2301")
    for probe in probes.reversed() { hub.subscribe(probe, to: Listener.self, priority: 0) }
    #expect(await order() == "0123")
  }

  @Test("subscribing again keeps what waits")
  func waiting() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    hub[Listener.self].notify() { $0.log.record(1) }
    hub.subscribe(probe, to: Listener.self, priority: 3, hold: .strongly)
    hub[Listener.self].notify() { $0.log.record(2) }
    hub.subscribe(probe, to: Listener.self)
    executor.run()
    #expect(probe.log.history == [1, 2])
  }

  @Test("subscribed again and again amid a storm, it is called once for each notification")
  func storm() async {
    for _ in rounds(10) {
      let hub = DelegateHub()
      let probe = Probe()
      let subscription = hub.subscribe(probe, to: Listener.self)
      await withTaskGroup { group in
        for priority in 0..<4 {
          group.addTask {
            for _ in 0..<50 {
              #expect(hub.subscribe(probe, to: Listener.self, priority: priority) == subscription)
              await Task.yield()
            }
          }
        }
        group.addTask {
          for number in 0..<100 {
            hub[Listener.self].notify() { $0.log.record(number) }
            #expect(await hub[Listener.self].ask(combining: .sum()) { _ in 1 } == 1)
          }
        }
      }
      await hub.drain()
      #expect(probe.log.history == Array(0..<100))
    }
  }

  @Test("subscribed by many at the same moment, it is subscribed once")
  func atOnce() async {
    for _ in rounds(50) {
      let hub = DelegateHub()
      let probe = Probe()
      let subscriptions = await withTaskGroup { group in
        for _ in 0..<8 { group.addTask { hub.subscribe(probe, to: Listener.self) } }
        return await group.reduce(into: Set()) { $0.insert($1) }
      }
      #expect(subscriptions.count == 1)
      #expect(await hub[Listener.self].ask(combining: .sum()) { _ in 1 } == 1)
    }
  }

  @Test("who comes back after its subscription ended has a new one, at the end")
  func comingBack() async {
    let hub = DelegateHub()
    let probes = Probe.many(3)
    let subscriptions = probes.map { hub.subscribe($0, to: Listener.self) }
    subscriptions[0].cancel()
    let new = hub.subscribe(probes[0], to: Listener.self)
    #expect(new != subscriptions[0])
    subscriptions[0].cancel()
    #expect([subscriptions[0].isActive, new.isActive] == [false, true])
    #expect(await hub[Listener.self].ask(combining: .all()) { $0.name } == ["1", "2", "0"])
  }

  @Test("objects that are equal are not the same")
  func equalObjects() async {
    final class Equal: Listener, Hashable {
      let name = "equal"
      let log = Recorder<Int>()
      static func == (lhs: Equal, rhs: Equal) -> Bool { true }
      func hash(into hasher: inout Hasher) {}
    }
    let hub = DelegateHub()
    let twins = [Equal(), Equal()]
    for twin in twins { hub.subscribe(twin, to: Listener.self) }
    hub.unsubscribe(twins[0])
    hub[Listener.self].notify() { $0.log.record(1) }
    await hub.drain()
    #expect(twins.map(\.log.history) == [[], [1]])
  }

  @Test("of those with equal ids the newest is subscribed, in the place of the older one")
  func ids() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let probes = Probe.many(3)
    let newer = Probe("newer")
    let subscriptions = probes.map { hub.subscribe($0, to: Listener.self, id: $0.name) }
    hub[Listener.self].notify() { $0.log.record(1) }
    let replacing = hub.subscribe(newer, to: Listener.self, id: "1")
    hub[Listener.self].notify() { $0.log.record(2) }
    #expect(subscriptions.map(\.isActive) == [true, false, true])
    #expect(replacing != subscriptions[1])
    #expect(hub.subscribe(newer, to: Listener.self, id: "1") == replacing)
    let order = Recorder<String>()
    _ = executor.start {
      _ = await hub[Listener.self].vote() {
        order.record($0.name)
        return true
      }
    }
    #expect(order.history == ["0", "newer", "2"])
    #expect(probes.map(\.log.history) == [[1, 2], [], [1, 2]])
    #expect(newer.log.history == [1, 2])
  }

  @Test("a take-over amid the handling loses nothing that waited, whatever the limit")
  func takeOverAmidHandling() async {
    for round in rounds(100) {
      let hub = DelegateHub()
      let (predecessor, successor) = (Probe("predecessor"), Probe("successor"))
      let limit = round % 2 == 0 ? DelegateHub.MailboxPolicy.dropOldest(limit: 1000) : .unbounded
      hub.subscribe(predecessor, to: Listener.self, id: "a", mailbox: limit)
      for number in 0..<200 { hub[Listener.self].notify() { $0.log.record(number) } }
      _ = await predecessor.log.history(of: 1 + round % 50)
      hub.subscribe(successor, to: Listener.self, id: "a", mailbox: limit)
      await hub.drain()
      let counts = await hub.accounts()
      #expect(counts.handled == 200)
      // Nobody handles what the other one has handled.
      #expect(Set(predecessor.log.history).isDisjoint(with: successor.log.history))
      #expect(successor.log.history == successor.log.history.sorted())
    }
  }

  @Test("a take-over while the main actor is busy loses nothing, in order")
  @MainActor
  func takeOverOnMainActor() async {
    let hub = DelegateHub()
    let probes = Probe.many(3)
    let subscription = hub.subscribe(probes[0], to: Listener.self, id: "a")
    hub[Listener.self].notify() { @MainActor in $0.log.record(1) }
    hub[Listener.self].notify() { $0.log.record(2) }
    hub[Listener.self].notify() { @MainActor in $0.log.record(3) }
    // This test occupies the main actor, for which the worker waits. It may be taken back from then on.
    let node = subscription.node
    while !node.contents.withLock({ $0.mailbox.flags.contains(.poised) }) { Threads.pause() }
    for probe in probes.dropFirst() { hub.subscribe(probe, to: Listener.self, id: "a") }
    await hub.drain()
    #expect(probes.map(\.log.history) == [[], [], [1, 2, 3]])
    #expect(await hub.accounts() == .init(handled: 3))
  }

  @Test("what is taken back from one that waits for the main actor is passed by its successor only")
  @MainActor
  func takenBack() async {
    let stage = Stage()
    let probes = Probe.many(2)
    stage.hub.subscribe(probes[0], to: Listener.self, id: "a")
    let wait = stage.start { hub in
      await hub[Listener.self].notifyAndWait() { @MainActor in $0.log.record(1) }.isEmpty
    }
    stage.run()
    stage.hub.subscribe(probes[1], to: Listener.self, id: "a")
    // One job is the successor's; the other one comes when the main actor has been free.
    while stage.executor.pending < 2 { await Task.yield() }
    stage.run()
    #expect(wait.result == nil)
    while wait.result == nil {
      await Task.yield()
      stage.run()
    }
    #expect(probes.map(\.log.history) == [[], [1]])
  }

  @Test(
    "one that is subscribed and takes an id keeps its mailbox: what waited for the other is cancelled"
  )
  func displacing() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let (predecessor, other) = (Probe("predecessor"), Probe("other"))
    let displaced = hub.subscribe(predecessor, to: Listener.self, id: "a")
    hub[Listener.self].notify() { $0.log.record(1) }
    let subscription = hub.subscribe(other, to: Listener.self)
    hub[Listener.self].notify() { $0.log.record(2) }
    #expect(hub.subscribe(other, to: Listener.self, id: "a") == subscription)
    hub[Listener.self].notify() { $0.log.record(3) }
    executor.run()
    #expect([displaced.isActive, subscription.isActive] == [false, true])
    #expect([predecessor, other].map(\.log.history) == [[], [2, 3]])
  }

  @Test("one id may be subscribed to several protocols and hubs")
  func idPerProtocol() {
    let hubs = [DelegateHub(), DelegateHub()]
    let probes = Probe.many(2)
    let subscriptions = [
      hubs[0].subscribe(probes[0], to: Listener.self, id: 1),
      hubs[0].subscribe(probes[1], to: Bystander.self, id: 1),
      hubs[1].subscribe(probes[1], to: Listener.self, id: 1),
    ]
    #expect(subscriptions.map(\.isActive) == [true, true, true])
  }
}
