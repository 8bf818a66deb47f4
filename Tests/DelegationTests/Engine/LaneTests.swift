import Synchronization
import Testing

@testable import Delegation

@Suite("Lane: what workers claim and cost", .inTurn(.heavy))
struct LaneTests {
  private func lane(_ nodes: [SubscriptionNode], for hub: DelegateHub = DelegateHub())
    -> Delegation.Lane
  {
    Delegation.Lane(delivering: nodes, for: hub)
  }

  @Test("every position is claimed once, in order, and none after the last")
  func claims() {
    let cast = Cast(3)
    let whole = lane(cast.nodes)
    #expect((0..<5).map { _ in whole.state.claim()?.position } == [0, 1, 2, nil, nil])
    #expect(lane([]).claim() == nil)
  }

  @Test("threads that meet at the last position do not both get one")
  func race() {
    let cast = Cast(1)
    let hub = DelegateHub()
    let number = rounds(20_000)
    let nodes = cast.nodes
    let lane = lane(nodes, for: hub)
    let claims = Recorder<[Int?]>()
    let meeting = Meeting(of: 2)
    Threads.run(2) { thread in
      var own: [Int?] = []
      for round in number {
        guard meeting.await(2 * round) else { break }
        // The one who came last is ahead by some steps: each waits for that many in turn.
        if round % 2 == thread {
          for _ in 0..<(round / 2 % 30) { _ = lane.state.withLock { $0.cursor.unclaimed } }
        }
        own.append(lane.state.claim()?.position)
        guard meeting.await(2 * round + 1) else { break }
        if thread == 0 { lane.state.withLock { $0.cursor = Cursor(nodes) } }
      }
      claims.record(own)
    }
    let pairs = zip(claims.history[0], claims.history[1])
    #expect(!claims.history[0].isEmpty)
    #expect(pairs.count { Set([$0, $1]) != [0, nil] } == 0)
    withExtendedLifetime(cast) {}
  }

  @Test("a suspended handler does not keep the executors of others")
  func executorsOfOthers() {
    let stage = Stage()
    let (gate, probes) = (Gate(), stage.cast(1))
    let other = Probe("other")
    var own: ManualExecutor? = ManualExecutor()
    let obituary = own.map { Obituary(of: $0) }
    let subscription = stage.hub.subscribe(other, to: Listener.self, on: own)
    stage.hub[Listener.self].notify() { probe in
      if probe.name == "0" { await gate.pass() }
      probe.log.record(1)
    }
    stage.run()
    own?.run()
    #expect(other.log.history == [1])
    #expect(probes[0].log.history == [])
    subscription.cancel()
    own = nil
    #expect(obituary?.isDead == true)
    stage.open(gate)
    #expect(probes[0].log.history == [1])
  }

  @Test("no more tasks than one for each that suspends, and one that finds nothing left")
  func tasks() {
    for count in 1...4 {
      for suspended in 0...count {
        let stage = Stage()
        let probes = stage.cast(count)
        // What is asked for by the first posting is not counted.
        stage.hub[Listener.self].notify() { _ in }
        stage.run()
        let gate = Gate()
        let most = Lock(0)
        stage.hub[Listener.self].notify() { [hub = stage.hub] probe in
          most.withLock { $0 = max($0, hub.activity.workers.value) }
          if let number = Int(probe.name), number < suspended { await gate.pass() }
        }
        stage.run()
        let usual = min(suspended + 2, count)
        #expect(most.withLock { $0 } <= max(1, usual), "\(suspended) of \(count) suspended")
        #expect(stage.hub.activity.workers.value == suspended)
        stage.open(gate)
        withExtendedLifetime(probes) {}
      }
    }
  }
}
