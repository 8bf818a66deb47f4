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
      hub[Listener.self].notify() { _ in if failing { throw Refusal() } }
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
    let probe = Probe()
    let lifetimes = Lifetimes()
    func subscribe() -> SubscriptionNode {
      let hub = DelegateHub { configuration in
        configuration.executor = executor
        configuration.onIncident = { _ in Issue.record("the hook is gone") }
      }
      return hub.subscribe(probe, to: Listener.self, id: lifetimes.make()).node
    }
    func report() -> Obituary {
      let node = subscribe()
      executor.run()
      node.report(.slow, in: .notify)
      return Obituary(of: node)
    }
    let node = report()
    #expect(executor.pending == 0)
    #expect(node.isDead)
    #expect(lifetimes.alive == 0)
    withExtendedLifetime(probe) {}
  }

  @Test("what was posted before the hub was released is handled, whoever cancels meanwhile")
  func posted() async {
    for _ in rounds(300) {
      let (handled, probe, transient) = (Recorder<Int>(), Probe(), Probe())
      let owner = Lock<DelegateHub?>(DelegateHub())
      let scene = owner.withLock { hub in
        _ = hub?.subscribe(probe, to: Listener.self)
        return hub.map { ($0.activity, $0.subscribe(transient, to: Listener.self)) }
      }
      guard let (activity, last) = scene else { return }
      Threads.run(2) { thread in
        if thread == 0 {
          last.cancel()
        } else {
          let hub = owner.withLock { $0.take() }
          hub?[Listener.self].notify() { if $0 === probe { handled.record(1) } }
        }
      }
      while activity.workers.value > 0 { await Task.yield() }
      #expect(handled.history == [1])
    }
  }
}
