import Testing

@testable import Delegation

@Suite("Priorities", .inTurn)
struct PriorityTests {
  private static let priorities = [0, 10, -5, 0, .max, 10, .min, 0, 7, -5]
  /// Higher first, ties by subscription.
  private static let order = ["4", "1", "5", "8", "0", "3", "7", "2", "9", "6"]

  private func subscribe(to hub: DelegateHub) -> [Probe] {
    let probes = Probe.many(Self.priorities.count)
    for (probe, priority) in zip(probes, Self.priorities) {
      hub.subscribe(probe, to: Listener.self, priority: priority)
    }
    return probes
  }

  @Test("subscribers are listed, and their answers given, by priority and then by subscription")
  func listed() async {
    let hub = DelegateHub()
    let probes = subscribe(to: hub)
    #expect(hub[Listener.self].subscribers.map(\.name) == Self.order)
    #expect(await hub[Listener.self].ask(combining: .all()) { $0.name } == Self.order)
    withExtendedLifetime(probes) {}
  }

  @Test("they are asked and served in that order")
  func served() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let probes = subscribe(to: hub)
    let asked = Recorder<String>()
    let told = Recorder<String>()
    hub[Listener.self].notify() { told.record($0.name) }
    executor.run()
    #expect(told.history == Self.order)
    _ = executor.start {
      _ = await hub[Listener.self].vote() { probe in
        asked.record(probe.name)
        return true
      }
    }
    #expect(asked.history == Self.order)
    withExtendedLifetime(probes) {}
  }

  @Test("a high one that vetoes spares the low ones the question")
  func veto() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let probes = subscribe(to: hub)
    let asked = Recorder<String>()
    _ = executor.start {
      _ = await hub[Listener.self].vote() { probe in
        asked.record(probe.name)
        return probe.name != "5"
      }
    }
    #expect(asked.history == ["4", "1", "5"])
    withExtendedLifetime(probes) {}
  }

  @Test("a random crowd that comes, goes and changes its priorities is in order at every moment")
  func random() async {
    for _ in rounds(10) {
      let hub = DelegateHub()
      let probes = Probe.many(30)
      // What a plain list would say: the priority of each, in order of subscription.
      var model: [(name: String, priority: Int)] = []
      for _ in 0..<100 {
        let probe = probes.randomElement()!
        let priority = Int.random(in: -2...2)
        let place = model.firstIndex { $0.name == probe.name }
        if let place, Bool.random() {
          hub.unsubscribe(probe)
          model.remove(at: place)
        } else {
          hub.subscribe(probe, to: Listener.self, priority: priority)
          if let place { model.remove(at: place) }
          model.insert((probe.name, priority), at: place ?? model.endIndex)
        }
        let expected = (-2...2).reversed().flatMap { priority in
          model.filter { $0.priority == priority }.map(\.name)
        }
        #expect(await hub[Listener.self].ask(combining: .all()) { $0.name } == expected)
      }
    }
  }
}
