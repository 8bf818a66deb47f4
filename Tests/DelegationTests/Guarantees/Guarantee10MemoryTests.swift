import Testing

@testable import Delegation

@Suite("Guarantee 10: what a question keeps after its deadline", .inTurn)
struct Guarantee10MemoryTests {
  /// The calls with a deadline.
  enum Asking: CaseIterable {
    case vote, collect, askInTurn, pass

    /// Asks with a closure that captures something.
    func callAsFunction(
      _ hub: DelegateHub, within duration: Duration, capturing captured: Lifetimes.Tracked
    ) async {
      switch self {
      case .vote:
        _ = await hub[Listener.self].vote(within: duration, absent: .abstains) { _ in
          withExtendedLifetime(captured) { true }
        }
      case .collect:
        _ = await hub[Listener.self].collect(within: duration) { _ in
          withExtendedLifetime(captured) {}
        }
      case .askInTurn:
        _ = await hub[Listener.self].askInTurn(within: duration, absent: .abstains) { _ in
          withExtendedLifetime(captured) { 1 as Int? }
        }
      case .pass:
        _ = await hub[Listener.self].pass(1, within: duration, absent: .abstains) {
          _, value in
          withExtendedLifetime(captured) { value }
        }
      }
    }
  }

  @Test(
    "nothing that its closure captured, while a subscription's executor stands still",
    arguments: Asking.allCases)
  func subscriptionExecutor(asking: Asking) {
    let stage = Stage()
    let stuck = ManualExecutor()
    let lifetimes = Lifetimes()
    let probe = Probe()
    let others = stage.cast(1)
    stage.hub.subscribe(probe, to: Listener.self, priority: 1, on: stuck)
    let call = stage.start { hub in
      await asking(hub, within: .seconds(1), capturing: lifetimes.make())
      return true
    }
    #expect(call.result == nil)
    stage.advance(by: .seconds(1))
    #expect(call.result == true)
    #expect(lifetimes.alive == 0)
    stuck.run()
    stage.run()
    #expect(stage.perform { await $0.drain() }?.isEmpty == true)
    withExtendedLifetime((probe, others)) {}
  }

  @Test(
    "nothing that its closure captured, while the hub's executor stands still",
    arguments: Asking.allCases)
  func hubExecutor(asking: Asking) async {
    let stuck = ManualExecutor()
    // By the real clock, whose deadlines do not need the hub's executor.
    let hub = DelegateHub(on: stuck)
    let lifetimes = Lifetimes()
    let probes = Probe.many(2)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    await asking(hub, within: .milliseconds(1), capturing: lifetimes.make())
    #expect(lifetimes.alive == 0)
    stuck.run()
    withExtendedLifetime(probes) {}
  }
}
