import Testing

@testable import Delegation

@Suite("Topic: what it does not do twice, nor for nothing", .inTurn)
struct TopicSparingTests {
  @Test("a topic that nobody has subscribed to is not heard, and nothing was posted")
  func new() {
    let topic = Switchboard().topic()
    #expect(topic.isHeard.load(ordering: .relaxed) == false)
    #expect(topic.snapshot().isEmpty && topic.overview().nodes.isEmpty)
    #expect(topic.state.withLock { $0.posted } == 0)
  }

  @Test("whoever looks in before a lane has begun takes nothing of what the lane is to do")
  func lookingIn() {
    for isStatistics in [false, true] {
      let stage = Stage()
      let probes = stage.cast(2)
      // The look stands in line before the lane.
      Task(executorPreference: stage.executor) { [hub = stage.hub] in
        if isStatistics {
          _ = await hub.statistics()
        } else {
          _ = hub[Listener.self].count
        }
      }
      stage.hub[Listener.self].notify() { $0.log.record(1) }
      stage.run()
      #expect(probes.map(\.log.history) == [[1], [1]])
      #expect(stage.hub.activity.workers.value == 0)
    }
  }

  @Test("when the last wait is over, nobody tells of ends any more")
  func announcing() async {
    let hub = DelegateHub()
    let gate = Gate()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    hub[Listener.self].notify() { _ in await gate.pass() }
    let first = Task { await hub.drain() }
    await gate.arrivals()
    while !hub.activity.workers.isAwaited { await Task.yield() }
    gate.open()
    _ = await first.value
    #expect(hub.activity.workers.isAwaited == false)
  }

  @Test("as long as nobody waits, nothing takes the lock that all hubs share")
  func unawaited() {
    let stage = Stage()
    let probes = stage.cast(2)
    let removed = Probe("removed")
    let subscription = stage.hub.subscribe(removed, to: Listener.self)
    let gate = Gate()
    let vote = WaitGraph.shared.withLock { _ in
      stage.hub[Listener.self].notify() { _ in await gate.pass() }
      let vote = stage.start { hub in
        await hub[Listener.self].vote() { _ in
          await gate.pass()
          return true
        }
      }
      subscription.cancel()
      stage.open(gate)
      stage.hub[Listener.self].notify() { $0.log.record(1) }
      stage.run()
      return vote
    }
    #expect(vote.result == true)
    #expect(probes.map(\.log.history) == [[1], [1]])
    withExtendedLifetime(removed) {}
  }

  @Test("it goes with its hub, whatever nobody has looked at")
  func released() {
    var hub: DelegateHub? = DelegateHub()
    let probe = Probe()
    hub?.subscribe(probe, to: Listener.self)
    let key = ObjectIdentifier((any Listener).self)
    guard let obituary = (hub?.topics.find(key)).map(Obituary.init(of:)) else { return }
    hub = nil
    #expect(obituary.isDead)
  }
}
