import Testing

@testable import Delegation

@Suite("Guarantee 1: snapshot", .inTurn(.heavy))
struct Guarantee01SnapshotTests {
  @Test("a notification reaches those subscribed when it was posted, and nobody added since")
  func notification() async {
    let hub = DelegateHub()
    let probes = Probe.many(4)
    for (number, probe) in probes.enumerated() {
      hub[Listener.self].notify() { $0.log.record(number) }
      hub.subscribe(probe, to: Listener.self)
    }
    hub[Listener.self].notify() { $0.log.record(4) }
    await hub.drain()
    #expect(probes.map(\.log.history) == [[1, 2, 3, 4], [2, 3, 4], [3, 4], [4]])
  }

  @Test("one added from within a handler hears only what is posted after that")
  func addedByHandler() async {
    let hub = DelegateHub()
    let first = Probe("first")
    let second = Probe("second")
    hub.subscribe(first, to: Listener.self)
    hub[Listener.self].notify() { probe in
      probe.log.record(1)
      hub[Listener.self].notify() { $0.log.record(2) }
      hub.subscribe(second, to: Listener.self)
      hub[Listener.self].notify() { $0.log.record(3) }
    }
    await hub.drain()
    #expect(first.log.history == [1, 2, 3])
    #expect(second.log.history == [3])
  }

  @Test("who leaves and comes back hears neither what waited nor what was posted meanwhile")
  func comingBack() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let probe = Probe()
    let other = Probe()
    hub.subscribe(other, to: Listener.self)
    let subscription = hub.subscribe(probe, to: Listener.self)
    hub[Listener.self].notify() { $0.log.record(1) }
    subscription.cancel()
    hub[Listener.self].notify() { $0.log.record(2) }
    hub.subscribe(probe, to: Listener.self)
    hub[Listener.self].notify() { $0.log.record(3) }
    executor.run()
    #expect(probe.log.history == [3])
    #expect(other.log.history == [1, 2, 3])
  }

  @Test("a vote asks all who subscribed before it, from the same thread")
  func voteAfterSubscribing() async {
    let hub = DelegateHub()
    let probes = Probe.many(20)
    for (number, probe) in probes.enumerated() {
      hub.subscribe(probe, to: Listener.self)
      let asked = await hub[Listener.self].ask(combining: .all()) { $0.name }
      #expect(asked == (0...number).map(String.init))
    }
    for (number, probe) in probes.enumerated() {
      hub.unsubscribe(probe, from: Listener.self)
      let asked = await hub[Listener.self].ask(combining: .all()) { $0.name }
      #expect(asked == (number + 1..<20).map(String.init))
    }
  }

  @Test("who subscribes while a vote is under way is not asked")
  func addedDuringVote() async {
    let hub = DelegateHub()
    let gate = Gate()
    let early = Probe("early")
    let late = Probe("late")
    hub.subscribe(early, to: Listener.self)
    async let asked = hub[Listener.self].ask(combining: .all()) { probe in
      await gate.pass()
      return probe.name
    }
    await gate.arrivals()
    hub.subscribe(late, to: Listener.self, priority: 1)
    hub.subscribe(late, to: Listener.self, priority: -1)
    gate.open()
    #expect(await asked == ["early"])
    #expect(await hub[Listener.self].ask(combining: .all()) { $0.name } == ["early", "late"])
  }

  @Test("one added by a voter is not asked in that vote")
  func addedByVoter() async {
    let hub = DelegateHub()
    let early = Probe("early")
    let late = Probe("late")
    hub.subscribe(early, to: Listener.self)
    let asked = await hub[Listener.self].ask(combining: .all()) { probe in
      hub.subscribe(late, to: Listener.self)
      return probe.name
    }
    #expect(asked == ["early"])
    #expect(await hub[Listener.self].ask(combining: .all()) { $0.name } == ["early", "late"])
  }

  @Test("a call reaches the subscribers of its own protocol and hub alone")
  func ofItsProtocol() async {
    let hub = DelegateHub()
    let elsewhere = DelegateHub()
    let (listener, bystander, both, stranger) = (Probe(), Probe(), Probe(), Probe())
    hub.subscribe(listener, to: Listener.self)
    hub.subscribe(bystander, to: Bystander.self)
    hub.subscribe(both, to: Listener.self)
    hub.subscribe(both, to: Bystander.self)
    elsewhere.subscribe(stranger, to: Listener.self)
    hub[Listener.self].notify() { $0.log.record(1) }
    await hub.drain()
    hub[Bystander.self].notify() { $0.log.record(2) }
    await hub.drain()
    #expect(listener.log.history == [1])
    #expect(bystander.log.history == [2])
    #expect(both.log.history == [1, 2])
    #expect(stranger.log.history == [])
    #expect(await hub[Listener.self].ask(combining: .sum()) { _ in 1 } == 2)
    #expect(await hub[Bystander.self].ask(combining: .sum()) { _ in 1 } == 2)
  }

  @Test("who joins or leaves amid a storm hears one unbroken stretch of the hub's total order")
  func totalOrder() async {
    for _ in rounds(5) {
      let hub = DelegateHub()
      let witness = Probe("witness")
      hub.subscribe(witness, to: Listener.self)
      let joiners = Probe.many(40)
      let leavers = Probe.many(40)
      for leaver in leavers { hub.subscribe(leaver, to: Listener.self) }
      await withTaskGroup { group in
        for poster in 0..<4 {
          group.addTask {
            for number in 0..<100 {
              hub[Listener.self].notify() { $0.log.record(poster * 1000 + number) }
              if number % 10 == 0 { await Task.yield() }
            }
          }
        }
        for joiner in joiners {
          group.addTask { hub.subscribe(joiner, to: Listener.self) }
        }
        for leaver in leavers {
          group.addTask { hub.unsubscribe(leaver, from: Listener.self) }
        }
      }
      await hub.drain()
      let order = witness.log.history
      #expect(order.count == 400)
      #expect(Set(order).count == 400)
      for joiner in joiners {
        #expect(joiner.log.history == Array(order.suffix(joiner.log.history.count)))
      }
      for leaver in leavers {
        #expect(leaver.log.history == Array(order.prefix(leaver.log.history.count)))
      }
    }
  }

  @Test("what a subscriber has heard of when it subscribes is not told to it again")
  func subscribingBetweenPosts() async {
    for _ in rounds(20) {
      let hub = DelegateHub()
      let witness = Probe("witness")
      let newcomer = Probe("newcomer")
      hub.subscribe(witness, to: Listener.self)
      async let posting: Void = {
        for number in 0..<100 { hub[Listener.self].notify() { $0.log.record(number) } }
      }()
      // Whatever was handled before it subscribes had been posted before it subscribed.
      let before = await witness.log.history(of: 10)
      hub.subscribe(newcomer, to: Listener.self)
      await posting
      hub[Listener.self].notify() { $0.log.record(100) }
      await hub.drain()
      #expect(witness.log.history == Array(0...100))
      #expect(newcomer.log.history.last == 100)
      #expect(Set(newcomer.log.history).isDisjoint(with: before))
    }
  }
}
