import Delegation

/// A call that a hub or a subscription offers.
struct Call: Sendable, CustomStringConvertible {
  let description: String
  /// Whether it may wait for handlers that others have begun.
  var waitsForOthers = false
  /// `nil` if it has to be awaited.
  private(set) var now: (@Sendable (Scene) -> Void)?
  private var awaited: @Sendable (Scene) async -> Void = { _ in }

  private init(_ description: String, _ now: @escaping @Sendable (Scene) -> Void) {
    (self.description, self.now) = (description, now)
  }

  private init(
    awaited description: String, waits: Bool = false,
    _ awaited: @escaping @Sendable (Scene) async -> Void
  ) {
    (self.description, waitsForOthers, self.awaited) = (description, waits, awaited)
  }

  func make(in scene: Scene) async {
    if let now { now(scene) } else { await awaited(scene) }
  }

  static let all = [
    Call("subscribe") {
      $0.hub.subscribe($0.newcomer, to: Listener.self, id: "newcomer", hold: .strongly)
    },
    Call("subscribe again") {
      $0.hub.subscribe($0.own, to: Listener.self, priority: 2)
      $0.hub.subscribe($0.neighbour, to: Listener.self, priority: 1)
    },
    Call("unsubscribe") { for probe in [$0.own, $0.neighbour] { $0.hub.unsubscribe(probe) } },
    Call("unsubscribe from the protocol") {
      for probe in [$0.own, $0.neighbour] { $0.hub.listeners.registry.unsubscribe(probe) }
    },
    Call("unsubscribe by id") { $0.hub.unsubscribe(id: 1) },
    Call("unsubscribe all") { $0.hub.listeners.registry.unsubscribeAll() },
    Call("notify") { $0.hub.listeners.notify { $0.log.record(1) } },
    Call("notify, awaiting") { scene in
      scene.hub.listeners.notify { probe in
        await Task.yield()
        probe.log.record(2)
      }
    },
    Call("forEach") { $0.hub.listeners.forEach { $0.log.record(4) } },
    Call("look") { _ = ($0.hub.listeners.count, $0.hub.listeners.subscribers) },
    Call("statistics") { _ = $0.hub.statistics() },
    Call("cancel") { for token in [$0.owns, $0.neighbours] { token?.cancel() } },
    Call("isActive") { _ = ($0.owns?.isActive, $0.neighbours.isActive) },
    Call(awaited: "vote") { _ = await $0.hub.listeners.vote { _ in true } },
    Call(awaited: "ask") { _ = await $0.hub.listeners.ask(combining: .all()) { $0.name } },
    Call(awaited: "collect") { _ = await $0.hub.listeners.collect { $0.name } },
    Call(awaited: "askInTurn") { _ = await $0.hub.listeners.askInTurn { _ in nil as Int? } },
    Call(awaited: "pass") { _ = await $0.hub.listeners.pass(1) { $1 } },
    Call(awaited: "notifyAndWait", waits: true) {
      await $0.hub.listeners.notifyAndWait { $0.log.record(3) }
    },
    Call(awaited: "drain", waits: true) { await $0.hub.drain() },
    Call(awaited: "cancelAndWait", waits: true) {
      for token in [$0.owns, $0.neighbours] { await token?.cancelAndWait() }
    },
  ]
}
