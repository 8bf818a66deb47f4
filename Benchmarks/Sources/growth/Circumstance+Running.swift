import Delegation

private typealias L = any Listener
private typealias B = any Bystander

extension Circumstance {
  /// What runs or is pending.
  static let running: [Circumstance] = [
    Circumstance("notifications that wait for another subscriber", unrest: [.hub, .listeners]) {
      scene, size in
      let scenery = Scenery()
      scene.hub.subscribe(scenery.members(1, at: scenery.gate)[0], to: L.self)
      for _ in 0..<size { scene.hub.notify(L.self) { await $0.didPass() } }
      await scenery.gate.waitForArrivals(1)
      return scenery
    },
    Circumstance(
      "notifications that wait for the subscriber itself", unrest: [.hub, .listeners],
      isQuick: true
    ) { scene, size in
      let scenery = Scenery()
      let gate = scenery.gate
      for _ in 0..<size { scene.hub.notify(L.self) { _ in await gate.pass() } }
      await gate.waitForArrivals(1)
      return scenery
    },
    Circumstance(
      "notifications that wait in the subscriber's own limited mailbox",
      unrest: [.hub, .listeners]
    ) { scene, size in
      let scenery = Scenery()
      let gate = scenery.gate
      scene.hub.subscribe(scene.member, to: L.self, mailbox: .dropOldest(limit: 2 * size))
      for _ in 0..<size { scene.hub.notify(L.self) { _ in await gate.pass() } }
      await gate.waitForArrivals(1)
      await scene.settle()
      return scenery
    },
    Circumstance("notifications that wait in another protocol", unrest: [.hub]) { scene, size in
      let scenery = Scenery()
      scene.hub.subscribe(scenery.members(1, at: scenery.gate)[0], to: B.self)
      for _ in 0..<size { scene.hub.notify(B.self) { await $0.didPass() } }
      await scenery.gate.waitForArrivals(1)
      return scenery
    },
    Circumstance("handlers of other subscribers' notifications", unrest: [.hub]) { scene, size in
      let scenery = Scenery()
      for member in scenery.members(size, at: scenery.gate) {
        scene.hub.subscribe(member, to: B.self)
      }
      scene.hub.notify(B.self) { await $0.didPass() }
      await scenery.gate.waitForArrivals(size)
      return scenery
    },
    Circumstance("questions that the subscriber answers", unrest: [.hub]) { scene, size in
      let scenery = Scenery()
      let gate = scenery.gate
      await scenery.start(size) { _ in
        _ = await scene.hub.vote(L.self) { _ in
          await gate.pass()
          return true
        }
      }
      await gate.waitForArrivals(size)
      return scenery
    },
    Circumstance("calls with a deadline", unrest: [.hub], isQuick: true) { scene, size in
      let scenery = Scenery()
      let gate = scenery.gate
      scene.hub.subscribe(scenery.members(1)[0], to: B.self)
      await scenery.start(size) { number in
        _ = await scene.hub.vote(B.self, within: .seconds(700 + number), absent: .abstains) { _ in
          await gate.pass()
          return true
        }
      }
      await scenery.gate.waitForArrivals(size)
      return scenery
    },
    Circumstance(
      "cancelled subscriptions whose questions run", unrest: [.hub], isQuick: true
    ) { scene, size in
      let scenery = Scenery()
      let members = scenery.members(size)
      for member in members { scene.hub.subscribe(member, to: L.self) }
      await startVote(scene, scenery, among: size + 1)
      for member in members { scene.hub.unsubscribe(member) }
      await scene.settle()
      return scenery
    },
    Circumstance("cancelled subscriptions whose notifications are handled", unrest: [.hub]) {
      scene, size in
      let scenery = Scenery()
      let members = scenery.members(size, at: scenery.gate)
      for member in members { scene.hub.subscribe(member, to: L.self) }
      scene.hub.notify(L.self) { await $0.didPass() }
      await scenery.gate.waitForArrivals(size)
      for member in members { scene.hub.unsubscribe(member) }
      await scene.settle()
      return scenery
    },
  ]

  /// Who waits.
  static let waiting: [Circumstance] = [
    Circumstance("tasks that drain the hub", unrest: [.hub], isQuick: true) { scene, size in
      let scenery = Scenery()
      await keepBusy(scene, scenery)
      await scenery.start(size) { _ in await scene.hub.drain() }
      return scenery
    },
    Circumstance("tasks that drain the hub within a time", unrest: [.hub]) { scene, size in
      let scenery = Scenery()
      await keepBusy(scene, scenery)
      await scenery.start(size) { _ in _ = await scene.hub.drain(within: .seconds(600)) }
      return scenery
    },
    Circumstance("tasks in notifyAndWait", unrest: [.hub, .listeners]) { scene, size in
      let scenery = Scenery()
      scene.hub.subscribe(scenery.members(1, at: scenery.gate)[0], to: L.self)
      await scenery.start(size) { _ in
        await scene.hub.notifyAndWait(L.self) { await $0.didPass() }
      }
      await scenery.gate.waitForArrivals(1)
      return scenery
    },
    Circumstance("handlers of other hubs that wait in hubs of their own", isQuick: true) {
      _, size in
      let scenery = Scenery()
      let (gate, members) = (scenery.gate, scenery.members(size))
      await scenery.start(size) { number in
        let (outer, inner) = (DelegateHub(), DelegateHub())
        for hub in [outer, inner] { hub.subscribe(members[number], to: B.self) }
        await outer.notifyAndWait(B.self) { _ in
          await inner.notifyAndWait(B.self) { _ in await gate.pass() }
        }
      }
      await gate.waitForArrivals(size)
      return scenery
    },
    Circumstance("tasks in cancelAndWait, for one subscription", unrest: [.hub]) { scene, size in
      let scenery = Scenery()
      let hung = scene.hub.subscribe(scenery.members(1)[0], to: L.self)
      await startVote(scene, scenery, among: 2)
      await scenery.start(size) { _ in await hung.cancelAndWait() }
      return scenery
    },
    Circumstance("tasks in cancelAndWait, for one subscription each", unrest: [.hub]) {
      scene, size in
      let scenery = Scenery()
      let hung = scenery.members(size).map { scene.hub.subscribe($0, to: L.self) }
      await startVote(scene, scenery, among: size + 1)
      await scenery.start(size) { number in await hung[number].cancelAndWait() }
      return scenery
    },
  ]

  /// Starts a vote whose voters answer when the scenery ends, and returns when all of them run.
  private static func startVote(_ scene: Scene, _ scenery: Scenery, among count: Int) async {
    let gate = scenery.gate
    await scenery.start(1) { _ in
      _ = await scene.hub.vote(L.self) { _ in
        await gate.pass()
        return true
      }
    }
    await gate.waitForArrivals(count)
  }

  private static func keepBusy(_ scene: Scene, _ scenery: Scenery) async {
    await keepBusy(scene.hub, scenery)
  }

  /// Has a handler run until the scenery ends.
  private static func keepBusy(_ hub: DelegateHub, _ scenery: Scenery) async {
    let member = scenery.members(1, at: scenery.gate)[0]
    hub.subscribe(member, to: B.self)
    hub.notify(B.self) { await $0.didPass() }
    await scenery.gate.waitForArrivals(1)
    hub.unsubscribe(member)
  }
}
