import Delegation

private typealias L = any Listener

extension Operation {
  static let telling: [Operation] = [
    Operation(name: "forEach", linear: [.subscribers], isQuick: true) { scene in
      scene.hub.forEach(L.self) { _ in }
    },
    Operation(name: "forEach, after a change", linear: [.subscribers]) { scene in
      scene.current = scene.hub.subscribe(scene.visitor, to: L.self)
      scene.hub.forEach(L.self) { _ in }
    } restore: {
      await cancelCurrent($0)
    },
    Operation(name: "notify", isQuick: true) { $0.hub.notify(L.self) { _ in } },
    Operation(name: "notify, conforming(to:)") { scene in
      scene.delegates.conforming(to: (any Narrower).self).notify { _ in }
    },
    Operation(name: "notify nobody") { $0.hub.notify((any Unheard).self) { _ in } },
    Operation(name: "notify, and the delivery", linear: [.subscribers], waits: [.hub]) { scene in
      scene.hub.notify(L.self) { _ in }
      await scene.hub.drain()
    },
    Operation(
      name: "notifyAndWait", linear: [.subscribers], waits: [.listeners], isQuick: true
    ) { await $0.hub.notifyAndWait(L.self) { await $0.didPass() } },
    Operation(
      name: "notifyAndWait, conforming(to:)", linear: [.subscribers], waits: [.listeners]
    ) { scene in
      await scene.delegates.conforming(to: (any Narrower).self)
        .notifyAndWait { await $0.didPass() }
    },
    Operation(name: "notifyAndWait of another protocol", isQuick: true) { scene in
      await scene.hub.notifyAndWait((any Settler).self) { await $0.settle() }
    },
    Operation(name: "notifyAndWait of another protocol, within") { scene in
      await scene.hub.notifyAndWait((any Settler).self, within: .seconds(600)) {
        await $0.settle()
      }
    },
    Operation(name: "drain", waits: [.hub]) { await $0.hub.drain() },
    Operation(name: "drain within a handler of another hub", isQuick: true) { scene in
      let other = scene.other
      other.notify(L.self) { _ in await other.drain() }
      await other.drain()
    },
    Operation(name: "delayingDrain") { await $0.hub.delayingDrain {} },
  ]

  static let asking: [Operation] = [
    Operation(name: "vote", linear: [.subscribers], isQuick: true) { scene in
      _ = await scene.hub.vote(L.self) { await $0.mayPass() }
    },
    Operation(name: "vote, within", linear: [.subscribers], isQuick: true) { scene in
      _ = await scene.hub.vote(L.self, within: .seconds(600), absent: .abstains) {
        await $0.mayPass()
      }
    },
    Operation(name: "vote, conforming(to:)", linear: [.subscribers]) { scene in
      _ = await scene.delegates.conforming(to: (any Narrower).self).vote { _ in true }
    },
    Operation(name: "vote, by Delegates", linear: [.subscribers]) { scene in
      _ = await scene.delegates.vote { await $0.mayPass() }
    },
    Operation(name: "vote of another protocol") { scene in
      _ = await scene.hub.vote((any Settler).self) { _ in true }
    },
    Operation(name: "vote of nobody") { scene in
      _ = await scene.hub.vote((any Unheard).self) { _ in true }
    },
    Operation(name: "ask", linear: [.subscribers]) { scene in
      _ = await scene.hub.ask(L.self, combining: .sum()) { await $0.mayPass() ? 1 : 0 }
    },
    Operation(name: "ask, within", linear: [.subscribers]) { scene in
      _ = await scene.hub.ask(
        L.self, combining: .sum(), within: .seconds(600), absent: .abstains
      ) { await $0.mayPass() ? 1 : 0 }
    },
    Operation(name: "collect", linear: [.subscribers]) { scene in
      _ = await scene.hub.collect(L.self) { await $0.mayPass() }
    },
    Operation(name: "askInTurn", linear: [.subscribers]) { scene in
      _ = await scene.hub.askInTurn(L.self) { await $0.objection() }
    },
    Operation(name: "askInTurn, within", linear: [.subscribers]) { scene in
      _ = await scene.hub.askInTurn(L.self, within: .seconds(600), absent: .abstains) {
        await $0.objection()
      }
    },
    Operation(name: "askInTurn, the first answers", isQuick: true) { scene in
      _ = await scene.hub.askInTurn(L.self) { await $0.mayPass() ? 1 : nil }
    },
    Operation(name: "pass", linear: [.subscribers]) { scene in
      _ = await scene.hub.pass(1, through: L.self) { $1 + (await $0.mayPass() ? 1 : 0) }
    },
  ]

  static let looking: [Operation] = [
    Operation(name: "hasSubscribers", isQuick: true) { scene in
      _ = scene.hub.hasSubscribers(of: L.self)
    },
    Operation(name: "isEmpty, conforming(to:)") { scene in
      _ = scene.delegates.conforming(to: (any Narrower).self).isEmpty
    },
    Operation(name: "subscriberCount", linear: [.subscribers]) { scene in
      _ = scene.hub.subscriberCount(of: L.self)
    },
    Operation(name: "count, conforming(to:)", linear: [.subscribers]) { scene in
      _ = scene.delegates.conforming(to: (any Narrower).self).count
    },
    Operation(name: "subscribers", linear: [.subscribers]) { scene in
      _ = scene.hub.subscribers(of: L.self)
    },
    Operation(name: "Subscription.isActive") { _ = $0.subscription.isActive },
    Operation(name: "Subscription.statistics", isQuick: true) { scene in
      _ = scene.subscription.statistics
    },
    Operation(
      name: "statistics", linear: [.subscribers, .subscribersOfOthers, .protocols, .other]
    ) { _ = await $0.hub.statistics() },
    Operation(name: "another hub, made and released") { _ in
      let hub = DelegateHub()
      let member = Member()
      hub.subscribe(member, to: L.self)
      withExtendedLifetime(member) {}
    },
  ]
}
