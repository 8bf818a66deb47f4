/// An actor with an array of weak boxes that awaits one after another: short to write, and a subscriber
/// that suspends holds up all after it.
actor ActorLoop {
  private var gatekeepers: [WeakGatekeeper] = []
  private var promptGatekeepers: [WeakPromptGatekeeper] = []
  private var listeners: [WeakListener] = []

  func add(_ gatekeeper: any Gatekeeper) {
    gatekeepers.append(WeakGatekeeper(gatekeeper))
  }

  func add(_ gatekeeper: any PromptGatekeeper) {
    promptGatekeepers.append(WeakPromptGatekeeper(gatekeeper))
  }

  func add(_ listener: any Listener) {
    listeners.append(WeakListener(listener))
  }

  func notify(_ body: @Sendable (any Listener) -> Void) {
    for box in listeners {
      if let listener = box.value { body(listener) }
    }
  }

  func vote(_ body: @Sendable (any Gatekeeper) async -> Bool) async -> Bool {
    for box in gatekeepers {
      if let gatekeeper = box.value, await !body(gatekeeper) { return false }
    }
    return true
  }

  func vote(_ body: @Sendable (any PromptGatekeeper) -> Bool) -> Bool {
    for box in promptGatekeepers {
      if let gatekeeper = box.value, !body(gatekeeper) { return false }
    }
    return true
  }
}
