import Testing

@testable import Delegation

@Suite("What is kept of a hub that is released", .inTurn)
struct ReleasedHubTests {
  @Test("A subscription, and an incident, keep neither the hub's executor nor its hook")
  func subscription() {
    let incidents = Recorder<DelegateHub.Incident>()
    let lifetimes = Lifetimes()
    let probe = Probe()
    func play(failing: Bool) -> (Obituary, DelegateHub.Subscription) {
      let executor = ManualExecutor()
      let cargo = lifetimes.make()
      let hub = DelegateHub { configuration in
        configuration.executor = executor
        configuration.onIncident = { incident in
          withExtendedLifetime(cargo) {}
          incidents.record(incident)
        }
      }
      let subscription = hub.subscribe(probe, to: Listener.self)
      hub.notify(Listener.self) { _ in if failing { throw Refusal() } }
      executor.run()
      let drain = executor.start { await hub.drain().isEmpty }
      withExtendedLifetime(drain) {}
      return (Obituary(of: executor), subscription)
    }
    for failing in [false, true] {
      let (executor, subscription) = play(failing: failing)
      #expect(!subscription.isActive)
      #expect(incidents.history.count == (failing ? 1 : 0))
      #expect(executor.isDead, "failing: \(failing)")
      #expect(lifetimes.alive == 0)
      withExtendedLifetime(subscription) {}
    }
  }

  @Test("An incident that comes when the hook is gone is not kept, nor is anybody sent for it")
  func lateIncident() {
    let executor = ManualExecutor()
    let activity = Activity()
    let reporter = IncidentReporter(
      .init(hook: { _ in Issue.record("the hook is gone") }, executor: executor),
      activity: activity)
    reporter.close()
    let lifetimes = Lifetimes()
    func report() -> Obituary {
      let node = Structures.node(of: Nobody(), identity: Identity(lifetimes.make()))
      reporter.report(
        .init(kind: .slow, call: .notify, subscription: .init(node: node), id: node.id))
      return Obituary(of: node)
    }
    for _ in 0..<3 {
      let node = report()
      #expect(executor.pending == 0)
      executor.run()
      #expect(node.isDead)
    }
    #expect(lifetimes.alive == 0)
    #expect(activity.workers.value == 0)
    withExtendedLifetime(reporter) {}
  }
}
