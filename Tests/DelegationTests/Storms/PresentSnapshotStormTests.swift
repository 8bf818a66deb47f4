import Testing

@testable import Delegation

/// What a call returned must show in the caller's next question, whoever asks meanwhile.
@Suite("Storm: subscriptions that are asked as soon as they are made", .inTurn(.heavy))
struct PresentSnapshotStormTests {
  private static let pool = ThreadPool(threads: 4)
  /// More than there are cores, so that one may have to wait in the middle of something.
  private static let members = 6

  @Test(
    "each is asked from when `subscribe` has returned until `cancel` has, in its present place",
    arguments: [false, true])
  func present(hasExecutor: Bool) async {
    let hub = hasExecutor ? DelegateHub(on: Self.pool) : DelegateHub()
    let wrong = Recorder<String>()
    let end = Gate()
    await withTaskGroup { group in
      for member in 0..<Self.members {
        group.addTask(executorPreference: hub.executor) {
          let actor = Member(number: member, hub: hub, wrong: wrong)
          for round in races(2_000) where wrong.history.isEmpty { await actor.play(round) }
          end.arrive()
        }
      }
      for _ in 0..<2 {
        group.addTask(executorPreference: hub.executor) {
          await Self.ask(hub, until: { end.arrived == Self.members })
        }
      }
      group.addTask(executorPreference: hub.executor) {
        await Self.occupy(hub, until: { end.arrived == Self.members })
      }
    }
    #expect(wrong.history.isEmpty)
  }

  /// Asks all the time: who asks first after a change merges it.
  private static func ask(_ hub: DelegateHub, until isOver: () -> Bool) async {
    while !isOver() {
      _ = await hub[Listener.self].vote() { _ in true }
      _ = await hub[Bystander.self].vote() { _ in true }
      await Task.yield()
    }
  }

  /// Has many subscribe to another protocol, and leave it.
  private static func occupy(_ hub: DelegateHub, until isOver: () -> Bool) async {
    let probes = Probe.many(100)
    while !isOver() {
      for probe in probes { hub.subscribe(probe, to: Bystander.self) }
      await Task.yield()
      for probe in probes { hub.unsubscribe(probe, from: Bystander.self) }
      await Task.yield()
    }
  }
}

/// Subscribes objects of its own, and looks whether they are asked.
private struct Member {
  let number: Int
  let hub: DelegateHub
  /// What was not as it should be.
  let wrong: Recorder<String>

  func play(_ round: Int) async {
    let first = Probe("\(number) first")
    switch (round + number) % 3 {
    case 0: await come(and: first)
    case 1: await change(first)
    default: await takeOver(first)
    }
  }

  /// Comes and goes.
  private func come(and first: Probe) async {
    let subscription = hub.subscribe(first, to: Listener.self)
    await expect([first.name], "after subscribing")
    subscription.cancel()
    await expect([], "after cancelling")
  }

  /// Changes places.
  private func change(_ first: Probe) async {
    let second = Probe("\(number) second")
    hub.subscribe(first, to: Listener.self)
    hub.subscribe(second, to: Listener.self, priority: 1)
    await expect([second.name, first.name], "after a second one with a higher priority")
    hub.subscribe(first, to: Listener.self, priority: 2)
    await expect([first.name, second.name], "after a change of the first one's priority")
    hub.unsubscribe(first, from: Listener.self)
    await expect([second.name], "after one was unsubscribed")
    hub.unsubscribe(second, from: Listener.self)
    await expect([], "after both were unsubscribed")
  }

  /// Gives its seat away.
  private func takeOver(_ first: Probe) async {
    let second = Probe("\(number) second")
    let seat = "seat \(number)"
    hub.subscribe(first, to: Listener.self, id: seat)
    await expect([first.name], "after subscribing with an id")
    let subscription = hub.subscribe(second, to: Listener.self, id: seat)
    await expect([second.name], "after a take-over")
    subscription.cancel()
    await expect([], "after cancelling the one that took over")
    withExtendedLifetime(first) {}
  }

  /// Expects those of its own to be asked, in this order.
  private func expect(_ names: [String], _ occasion: String) async {
    let own = "\(number) "
    let asked = await hub[Listener.self].ask(combining: .all()) { $0.name }
    let seen = asked.filter { $0.hasPrefix(own) }
    if seen != names { wrong.record("\(occasion): \(seen), not \(names)") }
    let count = hub[Listener.self].subscribers.count { $0.name.hasPrefix(own) }
    if count != names.count { wrong.record("\(occasion): \(count), not \(names.count)") }
  }
}
