import Testing

@testable import Delegation

/// What planted faults have shown to be missing (`Tests/Faults.md`).
@Suite("What only a planted fault had shown", .inTurn)
struct PlantedFaultTests {
  @Test("what a new subscription gets again is not passed for a poster that waits for others")
  func replayed() {
    let (stage, gate) = (Stage(), Gate())
    let all = Delegates<any Listener>(of: stage.hub, replaying: 1)
    let (slow, new) = (Probe("slow"), Probe("new"))
    stage.hub.subscribe(slow, to: Listener.self)
    let call = stage.start { _ in
      await all.notifyAndWait { if $0.name == "slow" { await gate.pass() } }
    }
    stage.hub.subscribe(new, to: Listener.self)
    stage.run()
    #expect(call.result == nil && stage.accounts?.handled == 1)
    stage.open(gate)
    #expect(call.result.map { [$0.addressed, $0.handled] } == [1, 1])
  }

  @Test("a loop that waits for demand hears that the last one has gone")
  func lastOne() {
    let (stage, seen) = (Stage(), Recorder<Bool>())
    let events = Events<Int>(of: stage.hub)
    let demand = events.demand
    Task(executorPreference: stage.executor) { for await value in demand { seen.record(value) } }
    stage.run()
    let token = events.registry.observe { _ in }
    stage.run()
    token.cancel()
    stage.run()
    #expect(seen.history == [false, true, false])
  }

  @Test("a quorum that cannot be met is told once, until it could have been met again")
  func tooFew() {
    let incidents = Recorder<String>()
    let stage = Stage { $0.on(.tooFew) { incidents.record("\($0)") } }
    let (one, other) = (Probe("one"), Probe("other"))
    stage.hub.subscribe(one, to: Listener.self)
    @Sendable func vote() {
      let outcome = stage.perform { await $0[Listener.self].vote(by: .atLeast(2)) { _ in true } }
      #expect(outcome == (stage.hub[Listener.self].count == 2))
    }
    for _ in 0..<3 { vote() }
    #expect(incidents.count == 1)
    stage.hub.subscribe(other, to: Listener.self)
    vote()
    stage.hub.unsubscribe(other)
    for _ in 0..<2 { vote() }
    #expect(incidents.count == 2)
    // One that took the list before the other one subscribed tells of it afterwards, and the next shortage is told as well.
    let token = stage.hub.subscribe(other, to: Listener.self)
    let topic = stage.hub.core.topics.find(Listener.self, owner: stage.hub.core)
    topic.reportShortage(of: 2, among: 1, in: .vote)
    token.cancel()
    for _ in 0..<2 { vote() }
    #expect(incidents.count == 4)
    // So it is of calls that are for some of them; and 64 numbers are remembered, this one included.
    let some = stage.hub[Listener.self].conforming(to: (any Bystander).self)
    for needed in [2..<70, 2..<70].joined() {
      _ = stage.perform { _ in await some.vote(by: .atLeast(needed)) { _ in true } }
    }
    #expect(incidents.count == 4 + 63)
    // Whoever comes or goes: it is told again once as many were there.
    for (present, told) in [(70, 1), (99, 0), (100, 0), (70, 1)] {
      stage.hub[Listener.self].unsubscribeAll()
      stage.cast(present)
      let before = incidents.count
      _ = stage.perform { await $0[Listener.self].vote(by: .atLeast(100)) { _ in true } }
      #expect(incidents.count == before + told, "\(present) are there")
    }
  }
}
