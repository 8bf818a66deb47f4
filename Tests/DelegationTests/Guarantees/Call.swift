import Delegation

/// Every call that a hub and a subscription offer.
enum Call: CaseIterable {
  case subscribe, subscribeAgain
  case unsubscribeFromProtocol, unsubscribeFromEverything, unsubscribeByID, unsubscribeAll
  case notify, notifyAsynchronously, notifyAndWait
  case vote, ask, collect, askInTurn, pass
  case count, subscribers, statistics, drain
  case cancel, cancelAndWait, isActive

  /// Whether the call has to be awaited.
  var isAwaited: Bool {
    switch self {
    case .notifyAndWait, .vote, .ask, .collect, .askInTurn, .pass, .count, .subscribers,
      .statistics, .drain, .cancelAndWait:
      true
    default: false
    }
  }

  /// Whether the call may wait for handlers that others have begun.
  var waitsForOthers: Bool {
    [.notifyAndWait, .drain, .cancelAndWait].contains(self)
  }

  /// Makes a call that need not be awaited.
  func make(in scene: Scene) {
    let hub = scene.hub
    switch self {
    case .subscribe:
      hub.subscribe(scene.newcomer, to: Listener.self, id: "newcomer", hold: .strongly)
    case .subscribeAgain:
      hub.subscribe(scene.own, to: Listener.self, priority: 2)
      hub.subscribe(scene.neighbour, to: Listener.self, priority: 1)
    case .unsubscribeFromProtocol:
      hub.unsubscribe(scene.own as any Listener, from: Listener.self)
      hub.unsubscribe(scene.neighbour as any Listener, from: Listener.self)
    case .unsubscribeFromEverything:
      hub.unsubscribe(scene.own)
      hub.unsubscribe(scene.neighbour)
    case .unsubscribeByID:
      hub.unsubscribe(id: 1)
    case .unsubscribeAll:
      hub.unsubscribeAll(from: Listener.self)
    case .notify:
      hub[Listener.self].notify() { $0.log.record(1) }
    case .notifyAsynchronously:
      hub[Listener.self].notify() { probe in
        await Task.yield()
        probe.log.record(2)
      }
    case .cancel:
      scene.owns?.cancel()
      scene.neighbours.cancel()
    default:
      _ = scene.owns?.isActive
      _ = scene.neighbours.isActive
    }
  }

  /// Makes any call.
  func make(in scene: Scene) async {
    let hub = scene.hub
    switch self {
    case .notifyAndWait: await hub[Listener.self].notifyAndWait() { $0.log.record(3) }
    case .collect: _ = await hub[Listener.self].collect() { $0.name }
    case .askInTurn: _ = await hub[Listener.self].askInTurn() { _ in nil as Int? }
    case .pass: _ = await hub[Listener.self].pass(1) { $1 }
    case .statistics: _ = hub.statistics()
    case .vote: _ = await hub[Listener.self].vote() { _ in true }
    case .ask: _ = await hub[Listener.self].ask(combining: .all()) { $0.name }
    case .count: _ = hub[Listener.self].count
    case .subscribers: _ = hub[Listener.self].subscribers
    case .drain: _ = await hub.drain()
    case .cancelAndWait:
      await scene.owns?.cancelAndWait()
      await scene.neighbours.cancelAndWait()
    default: makeSynchronously(in: scene)
    }
  }

  private func makeSynchronously(in scene: Scene) { make(in: scene) }
}
