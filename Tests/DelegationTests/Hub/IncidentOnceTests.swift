import Testing

@testable import Delegation

@Suite("Incidents: what is reported once, and what is none", .inTurn)
struct IncidentOnceTests {
  /// Looks at its hub when it dies.
  private final class Curious: Listener {
    let name = "curious"
    let log = Recorder<Int>()
    let hub: DelegateHub

    init(_ hub: DelegateHub) {
      self.hub = hub
    }

    deinit {
      _ = (!hub[Listener.self].isEmpty)
    }
  }

  @Test("a subscriber that dies of its first handler was called")
  func diesOfItsHandler() async {
    let incidents = Recorder<DelegateHub.Incident>()
    var configuration = DelegateHub.Configuration()
    configuration.onIncident = { incidents.record($0) }
    let hub = DelegateHub(configuration)
    let holder = Lock<Curious?>(nil)
    let subscription = holder.withLock { holder in
      let subscriber = Curious(hub)
      holder = subscriber
      return hub.subscribe(subscriber, to: Listener.self)
    }
    hub[Listener.self].notify() { _ in
      let last = holder.withLock { $0.take() }
      withExtendedLifetime(last) {}
    }
    await hub.drain()
    #expect(!subscription.isActive)
    #expect(incidents.history.map(\.description) == [])
  }

  @Test("a mailbox that goes on dropping, and never catches up, is reported once")
  func neverCaughtUp() {
    let incidents = Recorder<DelegateHub.Incident>()
    let executor = ManualExecutor()
    var configuration = DelegateHub.Configuration()
    configuration.executor = executor
    configuration.onIncident = { incidents.record($0) }
    let hub = DelegateHub(configuration)
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self, mailbox: .latest)
    @Sendable func post(_ round: Int) {
      hub[Listener.self].notify() { probe in
        probe.log.record(round)
        guard round < 50 else { return }
        // Each goes on to the next before it returns: one waits at all times.
        for _ in 0..<3 { post(round + 1) }
      }
    }
    post(1)
    executor.run()
    #expect(probe.log.history == Array(1...50))
    #expect(incidents.history.map(\.kind) == [.dropped])
    // It has caught up: what it drops now is news.
    post(49)
    executor.run()
    #expect(incidents.history.map(\.kind) == [.dropped, .dropped])
  }

  @Test("a voter that throws after the deadline was late, and has not failed")
  func lateAndThrowing() {
    let (scene, gate) = (IncidentScene(), Gate())
    let probes = scene.cast(2)
    let vote = scene.stage.start { hub in
      await hub[Listener.self].vote(within: .seconds(1), absent: .counts(as: false)) { probe in
        if probe.name == "1" { return true }
        await gate.pass()
        throw Refusal()
      }
    }
    // It goes on before anybody has cancelled it.
    scene.stage.clock.advance(by: .seconds(1))
    scene.stage.open(gate)
    #expect(vote.result == false)
    #expect(scene.told == ["late vote site:0"])
    let counts = scene.stage.statistics?.questions
    #expect(counts?.failed == 0)
    #expect(counts?.late == 1)
    withExtendedLifetime(probes) {}
  }
}
