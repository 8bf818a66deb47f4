/// A plain loop over weak references: the floor for handlers that don't suspend, and no more than
/// that, since one that suspends holds up all after it.
struct WeakLoop: Sendable {
  private let gatekeepers: [WeakGatekeeper]
  private let promptGatekeepers: [WeakPromptGatekeeper]
  private let listeners: [WeakListener]
  private let asyncListeners: [WeakAsyncListener]

  init(
    gatekeepers: [any Gatekeeper] = [], promptGatekeepers: [any PromptGatekeeper] = [],
    listeners: [any Listener] = [], asyncListeners: [any AsyncListener] = []
  ) {
    self.gatekeepers = gatekeepers.map(WeakGatekeeper.init)
    self.promptGatekeepers = promptGatekeepers.map(WeakPromptGatekeeper.init)
    self.listeners = listeners.map(WeakListener.init)
    self.asyncListeners = asyncListeners.map(WeakAsyncListener.init)
  }

  func notify(_ body: (any Listener) -> Void) {
    for box in listeners {
      if let listener = box.value { body(listener) }
    }
  }

  func notify(_ body: (any AsyncListener) async -> Void) async {
    for box in asyncListeners {
      if let listener = box.value { await body(listener) }
    }
  }

  func vote(_ body: (any Gatekeeper) async -> Bool) async -> Bool {
    for box in gatekeepers {
      if let gatekeeper = box.value, await !body(gatekeeper) { return false }
    }
    return true
  }

  func vote(_ body: (any PromptGatekeeper) -> Bool) -> Bool {
    for box in promptGatekeepers {
      if let gatekeeper = box.value, !body(gatekeeper) { return false }
    }
    return true
  }
}
