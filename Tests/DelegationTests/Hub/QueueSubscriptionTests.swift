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
    hub.notify(Listener.self) { _ in places.record(MarkedQueue.current) }
    hub.notify(Listener.self) { _ in
      await Task.yield()
      places.record(MarkedQueue.current)
    }
    await hub.drain()
    #expect(await hub.vote(Listener.self) { _ in MarkedQueue.current == "own" })
    #expect(places.history == ["own", "own"])
  }

  @Test("all who subscribe on a queue share one executor, which is gone when nobody needs it")
  func shared() async {
    let queue = MarkedQueue.make("shared")
    let probes = Probe.many(3)
    let nodes = probes.map { hub.subscribe($0, to: Listener.self, on: queue).node }
    let executor = nodes[0].executor
    #expect(executor != nil)
    #expect(nodes.allSatisfy { $0.executor === executor })
    #expect(DispatchQueueExecutor(queue).tasks === executor)
    #expect(DispatchQueueTaskExecutor.shared(on: MarkedQueue.make("other")) !== executor)
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

  @Test("nor are they listed any more, though their queues go on")
  func unlisted() {
    let before = DispatchQueueTaskExecutor.count
    let queues = (0..<1_000).map { DispatchQueue(label: "\($0)") }
    for queue in queues { _ = DispatchQueueTaskExecutor.shared(on: queue) }
    // Tests beside this one have some, but not so many.
    #expect(DispatchQueueTaskExecutor.count < before + 500)
    withExtendedLifetime(queues) {}
  }

  @Test("from several threads at once there is one executor all the same")
  func race() async {
    for _ in 0..<200 {
      let queue = DispatchQueue(label: "contended")
      let executors = await withTaskGroup(of: DispatchQueueTaskExecutor.self) { group in
        for _ in 0..<4 { group.addTask { DispatchQueueTaskExecutor.shared(on: queue) } }
        var all: [DispatchQueueTaskExecutor] = []
        for await executor in group { all.append(executor) }
        return all
      }
      #expect(executors.allSatisfy { $0 === executors[0] })
    }
  }
}
