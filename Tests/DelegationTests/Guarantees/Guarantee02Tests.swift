import Delegation
import Testing

@Suite("Guarantee 2: removal", .inTurn)
struct Guarantee02Tests {
  let stage = Stage()

  @Test("a removed one hears nothing of what waited; what has started goes on, uncancelled")
  func waitingAndStarted() {
    for removal in Removal.allCases {
      let (stage, gate, probe) = (Stage(), Gate(), Probe("it"))
      let subscription = removal.subscribe(probe, to: stage.hub)
      let vote = stage.start { hub in
        await hub.listeners.vote { _ in
          await gate.pass()
          return !Task.isCancelled
        }
      }
      stage.listeners.notify { probe in
        probe.log.record(1)
        await gate.pass()
        probe.log.record(Task.isCancelled ? -2 : 2)
      }
      for _ in 0..<2 { stage.listeners.notify { $0.log.record(3) } }
      stage.run()
      #expect(subscription.isActive)
      removal.remove(probe, subscription, from: stage.hub)
      stage.listeners.notify { $0.log.record(4) }
      #expect(!subscription.isActive && stage.listeners.isEmpty)
      stage.open(gate)
      #expect(probe.log.history == [1, 2], "\(removal)")
      #expect(vote.result == true, "\(removal)")
      #expect(stage.counted == counts(handled: 1, cancelled: 2))
    }
  }

  @Test("one that is removed during a call is not called any more", arguments: Removal.allCases)
  func duringACall(removal: Removal) async {
    for reach in Reach.allCases {
      let (stage, called) = (Stage(), Recorder<String>())
      let probes = Probe.many(5)
      let subscriptions = probes.map { removal.subscribe($0, to: stage.hub) }
      let handle: @Sendable (any Listener) -> Void = { [hub = stage.hub] present in
        called.record(present.name)
        for (probe, subscription) in zip(probes, subscriptions) where probe.name != present.name {
          removal.remove(probe, subscription, from: hub)
        }
      }
      _ = stage.start { await reach($0, suspending: false, handle) }
      #expect(called.history == ["0"], "\(reach)")
    }
    let (hub, called) = (DelegateHub(), Recorder<String>())
    let probes = Probe.many(3)
    let subscriptions = probes.map { removal.subscribe($0, to: hub) }
    hub.listeners.forEach {
      called.record($0.name)
      removal.remove(probes[1], subscriptions[1], from: hub)
    }
    #expect(called.history == (removal == .unsubscribeAll ? ["0"] : ["0", "2"]))
  }

  @Test("each way of removing ends what it says, and nothing else; to do it twice does nothing")
  func extent() async {
    for removal in Removal.allCases {
      let (hub, other) = (DelegateHub(), DelegateHub())
      let (probe, neighbour) = (Probe("it"), Probe("neighbour"))
      let subscription = removal.subscribe(probe, to: hub)
      let id = removal == .unsubscribeByID ? "it" : nil
      let rest = [
        hub.subscribe(probe, to: Bystander.self, id: id), removal.subscribe(neighbour, to: hub),
        hub.subscribe(neighbour, to: Bystander.self), removal.subscribe(probe, to: other),
      ]
      let endsAllOfIt = removal == .unsubscribeFromEverything || removal == .unsubscribeByID
      for _ in 0..<2 {
        removal.remove(probe, subscription, from: hub)
        #expect(!subscription.isActive)
        #expect(
          rest.map(\.isActive) == [!endsAllOfIt, removal != .unsubscribeAll, true, true],
          "\(removal)")
      }
      await subscription.cancelAndWait()
    }
  }

  @Test("an object may unsubscribe itself in its deinit")
  func inDeinit() {
    final class Leaver: Listener, Bystander {
      let name = "leaver"
      let log = Recorder<Int>()
      let hub: DelegateHub
      init(_ hub: DelegateHub) {
        self.hub = hub
        hub.subscribe(self, to: Listener.self)
        hub.subscribe(self, to: Bystander.self)
      }
      deinit {
        hub[Bystander.self].registry.unsubscribe(self)
        hub.unsubscribe(self)
      }
    }
    do { _ = Leaver(stage.hub) }
    #expect(stage.hub.listeners.isEmpty && stage.hub.bystanders.isEmpty)
    stage.listeners.notify { _ in Issue.record("it is dead") }
    #expect(stage.isDrained)
  }

  @Test("on its own serial executor likewise", arguments: Reach.allCases)
  func onItsExecutor(reach: Reach) async {
    for _ in rounds(20) {
      let (hub, lane, log) = (DelegateHub(), Lane("own"), Recorder<Int>())
      let cancelled = Guarded(false)
      hub.cast(1, on: lane)
      let call = Task {
        await reach(hub, suspending: false) { _ in if cancelled.withLock({ $0 }) { log.record(1) } }
      }
      await Task(executorPreference: lane) {
        hub.listeners.registry.unsubscribeAll()
        cancelled.withLock { $0 = true }
      }.value
      await call.value
      #expect(log.history == [])
    }
  }
}
