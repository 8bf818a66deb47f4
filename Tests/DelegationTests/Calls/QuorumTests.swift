import Testing

@testable import Delegation

@Suite("Incidents: too few subscribers for a rule", .inTurn)
struct QuorumTests {
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

  @Test("where a rule needs nobody, nobody is missing, and the first true shortage is told")
  func nobodyNeeded() {
    let needed = Recorder<Int?>()
    let stage = Stage { $0.onIncident = { needed.record($0.needed) } }
    for rule in [BooleanRule.unanimous(ofAtLeast: 0), .nobody(ofAtLeast: 0), .atLeast(0)] {
      #expect(stage.perform { await $0[Listener.self].vote(by: rule) { _ in true } } == true)
      #expect(needed.history == [], "\(rule)")
    }
    for rule in [BooleanRule.unanimous(ofAtLeast: 1), .atLeast(2), .nobody(ofAtLeast: 3)] {
      #expect(stage.perform { await $0[Listener.self].vote(by: rule) { _ in true } } == false)
    }
    #expect(needed.history == [1, 2, 3])
  }
}
