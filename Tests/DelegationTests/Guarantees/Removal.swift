import Delegation

/// The ways to end a subscription to `Listener`.
enum Removal: CaseIterable {
  case cancel
  case unsubscribeFromProtocol
  case unsubscribeFromEverything
  case unsubscribeByID
  case unsubscribeAll

  /// Subscribes a probe so that it can be removed in this way: by its name as id, if need be.
  @discardableResult
  func subscribe(_ probe: Probe, to hub: DelegateHub, hold: DelegateHub.Hold = .weakly)
    -> DelegateHub.Subscription
  {
    let id: String? = self == .unsubscribeByID ? probe.name : nil
    return hub.subscribe(probe, to: Listener.self, id: id, hold: hold)
  }

  /// Removes a probe that was subscribed by `subscribe(_:to:)`.
  func remove(_ probe: Probe, _ subscription: DelegateHub.Subscription, from hub: DelegateHub) {
    switch self {
    case .cancel: subscription.cancel()
    case .unsubscribeFromProtocol: hub[Listener.self].unsubscribe(probe as any Listener)
    case .unsubscribeFromEverything: hub.unsubscribe(probe)
    case .unsubscribeByID: hub.unsubscribe(id: probe.name)
    case .unsubscribeAll: hub[Listener.self].unsubscribeAll()
    }
  }
}
