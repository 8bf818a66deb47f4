import Testing

@testable import Delegation

/// What a call returned must show in the caller's next one, whatever others do meanwhile.
@Suite("Storm: subscribers that come, go and change", .inTurn(.heavy))
struct SubscriberStormTests {
  private static let pool = ThreadPool(threads: 4)
  /// More than there are cores, so that one may have to wait in the middle of something.
  private static let members = 6

  @Test(
    "each is asked from `subscribe` to `cancel`, in its present place", arguments: [false, true])
  func present(hasExecutor: Bool) async {
    let hub = hasExecutor ? DelegateHub(on: Self.pool) : DelegateHub()
    let (wrong, ended) = (Recorder<String>(), Count())
    await withTaskGroup { group in
      for number in 0..<Self.members {
        group.addTask {
          let member = Member(number: number, hub: hub, wrong: wrong)
          for round in races(400) where wrong.history.isEmpty { await member.play(round) }
          ended.add(1)
        }
      }
      group.addTask {
        // What asks first after a change merges the list; and what looks on races with nobody.
        while ended.value < Self.members {
          _ = await hub[Listener.self].vote { _ in true }
          let statistics = hub.statistics()
          if statistics.counts.addressed != statistics.addressed { wrong.record("\(statistics)") }
          _ = await hub.drain(within: .zero)
          await Task.yield()
        }
      }
      group.addTask {
        // Many come to another protocol, and leave it.
        let probes = Probe.many(100)
        while ended.value < Self.members {
          for probe in probes { hub.subscribe(probe, to: Bystander.self) }
          hub[Bystander.self].notify { _ in }
          for probe in probes { hub[Bystander.self].unsubscribe(probe) }
          await Task.yield()
        }
      }
    }
    await hub.drain()
    #expect(wrong.history.isEmpty, "\(wrong.history.prefix(3))")
    #expect(hub.counted.waiting == 0)
  }

  /// Subscribes objects of its own, and looks whether they are asked.
  private struct Member {
    let number: Int
    let hub: DelegateHub
    /// What was not as it should be.
    let wrong: Recorder<String>

    func play(_ round: Int) async {
      let (first, second) = (Probe("\(number) first"), Probe("\(number) second"))
      let seat: String? = (round + number) % 2 == 0 ? "seat \(number)" : nil
      let subscription = hub.subscribe(first, to: Listener.self, id: seat)
      await expect([first], "after subscribing")
      if seat != nil {
        let heir = hub.subscribe(second, to: Listener.self, id: seat)
        await expect([second], "after a take-over")
        heir.cancel()
      } else {
        hub.subscribe(second, to: Listener.self, priority: 1)
        await expect([second, first], "after one with a higher priority")
        hub.subscribe(first, to: Listener.self, priority: 2)
        await expect([first, second], "after a change of priority")
        hub[Listener.self].unsubscribe(first)
        await expect([second], "after one was unsubscribed")
        hub.unsubscribe(second)
      }
      await expect([], "after all were cancelled")
      if subscription.isActive { wrong.record("active") }
    }

    /// Expects those of its own to be asked, in this order.
    private func expect(_ probes: [Probe], _ occasion: String) async {
      let (own, names) = ("\(number) ", probes.map(\.name))
      let asked = await hub[Listener.self].ask(combining: .all()) { $0.name }
      let seen = asked.filter { $0.hasPrefix(own) }
      if seen != names { wrong.record("\(occasion): \(seen), not \(names)") }
      let listed = hub[Listener.self].subscribers.map(\.name).filter { $0.hasPrefix(own) }
      if listed != names { wrong.record("\(occasion): \(listed), not \(names)") }
    }
  }
}
