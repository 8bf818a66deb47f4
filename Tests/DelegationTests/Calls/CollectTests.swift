import Delegation
import Testing

@Suite("collect", .inTurn)
struct CollectTests {
  @Test("replies come in the order of priority, then of subscription, and say whose they are")
  func order() {
    let (stage, probes) = (Stage(), Probe.many(3))
    let subscriptions = probes.map {
      stage.hub.subscribe($0, to: Listener.self, priority: $0.name == "1" ? 1 : 0, id: $0.name)
    }
    let replies = stage.perform { await $0[Listener.self].collect { "I am \($0.name)" } } ?? []
    #expect(replies.map { try? $0.result.get() } == [1, 0, 2].map { "I am \($0)" })
    #expect(replies.map(\.subscription) == [1, 0, 2].map { subscriptions[$0] })
    #expect(replies.first?.subscriber == "DelegationTests.Probe (1)")
  }

  @Test("an error is that one's result, and cancels nobody; who is late has timed out")
  func errors() {
    let stage = Stage { $0.onIncident = { _ in } }
    let (gate, never) = (Gate(), Gate())
    stage.cast(5)
    let collect = stage.start { hub in
      await hub[Listener.self].collect(within: .seconds(1)) { probe in
        if probe.name == "0" { throw Refusal(reason: "at once") }
        await (probe.name == "4" ? never : gate).pass()
        if Task.isCancelled { throw CancellationError() }
        if probe.name == "2" { throw Refusal(reason: "at last") }
        return probe.name
      }
    }
    stage.open(gate)
    #expect(collect.result == nil)
    stage.advance(by: .seconds(1))
    let replies = collect.result ?? []
    #expect(replies.map { try? $0.result.get() } == [nil, "1", nil, "3", nil])
    let errors = replies.map { reply -> (any Error)? in
      if case .failure(let error) = reply.result { error } else { nil }
    }
    #expect(
      errors.map { $0 as? Refusal }
        == [Refusal(reason: "at once"), nil, Refusal(reason: "at last"), nil, nil])
    #expect(errors.last.map { $0 as? DelegateHub.ReplyError } == .timedOut)
    #expect(
      "\(DelegateHub.ReplyError.timedOut)" == "the subscriber had not answered at the deadline")
    stage.open(never)
  }
}
