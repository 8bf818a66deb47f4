import Synchronization
import Testing

@testable import Delegation

@Suite(
  "Guarantee 5: an object handles one notification at a time, by whichever subscription",
  .inTurn)
struct Guarantee05OneObjectTests {
  @Test("one that is ended and subscribes anew begins when the former one's handler has returned")
  func again() {
    let stage = Stage()
    let gate = Gate()
    let (probe, other) = (Probe(), Probe())
    let subscription = stage.hub.subscribe(probe, to: Listener.self)
    stage.hub.subscribe(other, to: Listener.self)
    stage.hub[Listener.self].notify() { present in
      if present === probe { await gate.pass() }
      present.log.record(1)
    }
    stage.run()
    subscription.cancel()
    // Also if there were others in between.
    stage.hub.subscribe(probe, to: Listener.self).cancel()
    stage.hub.subscribe(probe, to: Listener.self, id: "a")
    stage.hub[Listener.self].notify() { $0.log.record(2) }
    stage.hub[Listener.self].notify() { $0.log.record(3) }
    stage.run()
    #expect(probe.log.history == [])
    #expect(other.log.history == [1, 2, 3])
    stage.open(gate)
    #expect(probe.log.history == [1, 2, 3])
    #expect(stage.hub.activity.workers.value == 0)
    #expect(stage.accounts == .init(handled: 6))
  }

  @Test("with an executor of its own, and under a limit, it is held likewise")
  func elsewhere() {
    let stage = Stage()
    let gate = Gate()
    let probe = Probe()
    let subscription = stage.hub.subscribe(probe, to: Listener.self)
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.run()
    subscription.cancel()
    let lane = ManualExecutor()
    stage.hub.subscribe(probe, to: Listener.self, mailbox: .dropOldest(limit: 2), on: lane)
    for number in 1...4 { stage.hub[Listener.self].notify() { $0.log.record(number) } }
    stage.run()
    lane.run()
    #expect(probe.log.history == [])
    stage.open(gate)
    #expect(probe.log.history == [])
    lane.run()
    #expect(probe.log.history == [3, 4])
  }

  @Test("what inherits from another one under an id is held, too")
  func successor() {
    let stage = Stage()
    let gate = Gate()
    let (probe, predecessor) = (Probe("probe"), Probe("predecessor"))
    let subscription = stage.hub.subscribe(probe, to: Listener.self)
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.run()
    subscription.cancel()
    stage.hub.subscribe(predecessor, to: Listener.self, id: "a")
    stage.hub[Listener.self].notify() { $0.log.record(1) }
    stage.hub.subscribe(probe, to: Listener.self, id: "a")
    stage.hub[Listener.self].notify() { $0.log.record(2) }
    stage.run()
    #expect([probe, predecessor].map(\.log.history) == [[], []])
    stage.open(gate)
    #expect([probe, predecessor].map(\.log.history) == [[1, 2], []])
  }

  @Test("a call that waits does not wait for what is held for the handler that makes it")
  func reentrancy() {
    let stage = Stage()
    let probe = Probe()
    let mine = Lock<DelegateHub.Subscription?>(stage.hub.subscribe(probe, to: Listener.self))
    stage.hub[Listener.self].notify() { [hub = stage.hub] present in
      present.log.record(1)
      let former = mine.withLock { $0 }
      former?.cancel()
      let next = hub.subscribe(present, to: Listener.self)
      mine.withLock { $0 = next }
      await hub[Listener.self].notifyAndWait() { $0.log.record(5) }
      present.log.record(2)
      await hub.drain()
      present.log.record(3)
      await former?.cancelAndWait()
      await next.cancelAndWait()
      present.log.record(4)
      hub.subscribe(present, to: Listener.self)
    }
    stage.run()
    #expect(probe.log.history == [1, 2, 3, 4])
    stage.hub[Listener.self].notify() { $0.log.record(6) }
    stage.run()
    #expect(probe.log.history == [1, 2, 3, 4, 6])
    // What waited for the subscription that was ended before its turn.
    #expect(stage.accounts == .init(handled: 2, cancelled: 1))
  }

  @Test("from outside, a call that waits does wait for it")
  func strict() {
    let stage = Stage()
    let gate = Gate()
    let probe = Probe()
    let subscription = stage.hub.subscribe(probe, to: Listener.self)
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.run()
    subscription.cancel()
    stage.hub.subscribe(probe, to: Listener.self)
    let waiting = stage.start { await $0[Listener.self].notifyAndWait() { $0.log.record(1) } }
    let draining = stage.start { await $0.drain().isEmpty }
    #expect(waiting.result == nil)
    #expect(draining.result == nil)
    stage.open(gate)
    #expect(waiting.result != nil)
    #expect(draining.result == true)
    #expect(probe.log.history == [1])
  }

  @Test("ended subscriptions are remembered only as long as a handler of theirs runs")
  func memory() throws {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(20)
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.run()
    let found = stage.hub.topics.find(ObjectIdentifier(Listener.self))
    let topic = try #require(found)
    for round in 1...3 {
      stage.hub.unsubscribeAll(from: Listener.self)
      for probe in probes { stage.hub.subscribe(probe, to: Listener.self, id: round) }
      #expect(topic.state.withLock { $0.endings.nodes.count } == 20)
    }
    stage.open(gate)
    #expect(topic.state.withLock { $0.endings.nodes.count } == 0)
  }

  @Test("amid a storm of ends and new beginnings no object is called twice at once")
  func storm() async {
    let hub = DelegateHub()
    let probes = (0..<4).map { _ in Inside() }
    for _ in rounds(20) {
      Threads.run(3) { thread in
        for number in 0..<60 {
          let probe = probes[number % 4]
          switch (number + thread) % 5 {
          case 0:
            hub.unsubscribe(probe)
            hub.subscribe(probe, to: (any Entered).self)
          case 1: hub.unsubscribeAll(from: (any Entered).self)
          default: hub.subscribe(probe, to: (any Entered).self, id: thread == 1 ? number % 3 : nil)
          }
          hub[(any Entered).self].notify() { await $0.stayInside() }
          hub[(any Entered).self].notify() { $0.enter() }
        }
      }
    }
    hub.subscribe(probes[0], to: (any Entered).self)
    await hub[(any Entered).self].notifyAndWait() { await $0.stayInside() }
    await hub.drain()
    #expect(probes.allSatisfy { $0.most.load(ordering: .relaxed) <= 1 })
    #expect(probes.contains { $0.most.load(ordering: .relaxed) == 1 })
    _ = await hub.accounts()
  }
}

private protocol Entered: AnyObject, Sendable {
  func enter()
  func stayInside() async
}

/// Notes how many are in it at once.
private final class Inside: Entered {
  private let count = Atomic<Int>(0)
  let most = Atomic<Int>(0)

  func enter() {
    begin()
    count.subtract(1, ordering: .sequentiallyConsistent)
  }

  func stayInside() async {
    begin()
    for _ in 0..<5 { await Task.yield() }
    count.subtract(1, ordering: .sequentiallyConsistent)
  }

  private func begin() {
    most.max(count.add(1, ordering: .sequentiallyConsistent).newValue, ordering: .relaxed)
  }
}
