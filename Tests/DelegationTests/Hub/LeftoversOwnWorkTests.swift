import Testing

@testable import Delegation

@Suite("Leftovers of drain: what is left of a hub's own work", .inTurn)
struct LeftoversOwnWorkTests {
  @Test(
    "a question that its subscriber's executor has not come to is left", arguments: [true, false])
  func question(isDecided: Bool) {
    let stage = Stage()
    let stuck = ManualExecutor()
    let (probe, others) = (Probe(), stage.cast(1))
    stage.hub.subscribe(probe, to: Listener.self, on: stuck)
    let vote = stage.start { hub in
      await hub[Listener.self].vote(within: .seconds(1), absent: .abstains) { _ in true }
    }
    if isDecided { stage.advance(by: .seconds(1)) }
    #expect(vote.result == (isDecided ? true : nil))
    let left = stage.perform { await $0.drain(within: .zero) }
    #expect(left?.isEmpty == false)
    #expect(left?.subscribers == [])
    #expect(left?.delays == 0)
    #expect(left?.description == "the hub's own work: 1")
    let cancelled = stage.start { await $0.drain() }
    #expect(cancelled.result == nil)
    cancelled.cancel()
    stage.run()
    #expect(cancelled.result?.isEmpty == false)
    // That is not its affair.
    #expect(
      stage.perform { await $0[Bystander.self].notifyAndWait() { _ in } }?.isEmpty == true)
    stuck.run()
    stage.run()
    #expect(vote.result == true)
    #expect(stage.perform { await $0.drain(within: .zero) }?.description == "nothing left")
    withExtendedLifetime((probe, others)) {}
  }

  @Test("an incident that is being told is left")
  func incident() async {
    let blockade = Blockade()
    let hub = DelegateHub(
      .init(executor: ThreadPool(threads: 2), onIncident: { _ in blockade.enter() }))
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    hub[Listener.self].notify() { _ in throw Refusal() }
    await blockade.entry()
    let left = await hub.drain(within: .zero)
    #expect(!left.isEmpty)
    #expect(left.ownWork > 0)
    #expect(left.description.hasSuffix("the hub's own work: \(left.ownWork)"))
    #expect(blockade.end())
    #expect(await hub.drain().isEmpty)
    withExtendedLifetime(probe) {}
  }

  @Test(
    "it is told beside subscribers and what delays the drain, and none of these is counted in it")
  func beside() {
    let stage = Stage()
    let stuck = ManualExecutor()
    let gate = Gate()
    let (probe, others) = (Probe(), stage.cast(2))
    stage.hub.subscribe(probe, to: Listener.self, on: stuck)
    let vote = stage.start { hub in
      await hub[Listener.self].vote() { _ in
        await gate.pass()
        return true
      }
    }
    let delay = stage.start { hub in
      await hub.delayingDrain { await gate.pass() }
      return true
    }
    let left = stage.perform { await $0.drain(within: .zero) }
    #expect(left?.subscribers.map(\.running) == [1, 1])
    #expect(
      left?.description.split(separator: "\n").suffix(2)
        == ["delaying the drain: 1", "the hub's own work: 1"])
    stage.open(gate)
    stuck.run()
    stage.run()
    #expect(vote.result == true)
    #expect(delay.result == true)
    #expect(stage.perform { await $0.drain(within: .zero) }?.isEmpty == true)
    withExtendedLifetime((probe, others)) {}
  }
}
