import Dispatch
import Testing

@testable import Delegation

@Suite("Subscribing on a dispatch queue", .inTurn)
struct QueueSubscriptionTests {
  private let hub = DelegateHub()

  @Test("handlers run on the queue, those of notifications and those of questions")
  func onTheQueue() async {
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self, on: MarkedQueue.make("own"))
    let places = Recorder<String>()
    hub[Listener.self].notify() { _ in places.record(MarkedQueue.current) }
    hub[Listener.self].notify() { _ in
      await Task.yield()
      places.record(MarkedQueue.current)
    }
    await hub.drain()
    #expect(await hub[Listener.self].vote() { _ in MarkedQueue.current == "own" })
    #expect(places.history == ["own", "own"])
  }

  @Test("to subscribe again on the same queue sends no worker elsewhere, on another one it does")
  func again() {
    let (queue, other) = (MarkedQueue.make("same"), MarkedQueue.make("other"))
    let probe = Probe()
    let node = hub.subscribe(probe, to: Listener.self, on: queue).node
    // As if a worker attended it.
    node.contents.withLock { _ = $0.mailbox.flags.insert(.attended) }
    defer { node.contents.withLock { $0.mailbox.flags.subtract([.attended, .relocated]) } }
    let isRelocated = [queue, other].map { queue in
      hub.subscribe(probe, to: Listener.self, on: queue)
      return node.contents.withLock { $0.mailbox.flags.contains(.relocated) }
    }
    #expect(isRelocated == [false, true])
  }

  @Test("all who subscribe on a queue have one place, and those on another queue another one")
  func shared() throws {
    let (queue, other) = (MarkedQueue.make("shared"), MarkedQueue.make("other"))
    let probes = Probe.many(4)
    var nodes = probes.dropLast(2).map { hub.subscribe($0, to: Listener.self, on: queue).node }
    nodes.append(hub.subscribe(probes[2], to: Listener.self, on: DispatchQueueExecutor(queue)).node)
    nodes.append(hub.subscribe(probes[3], to: Listener.self, on: other).node)
    let places = try nodes.map { place(of: try #require($0.executor)) }
    #expect(places[...2].allSatisfy { $0 == places[0] })
    #expect(places[3] != places[0])
    withExtendedLifetime(probes) {}
  }

  @Test("executors of queues that come and go leave nothing behind")
  func noLeak() async {
    let weak = Recorder<Obituary>()
    for _ in 0..<100 {
      let queue = DispatchQueue(label: "passing")
      let probe = Probe()
      let node = hub.subscribe(probe, to: Listener.self, on: queue).node
      weak.record(Obituary(of: node.executor!))
      hub.unsubscribe(probe)
    }
    for obituary in weak.history { await obituary.death() }
  }
}
