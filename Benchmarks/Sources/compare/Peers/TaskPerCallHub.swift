/// The actor everybody writes first: weak boxes in an array, a task per delivery, a task group per
/// vote.
actor TaskPerCallHub {
  private var gatekeepers: [WeakGatekeeper] = []
  private var promptGatekeepers: [WeakPromptGatekeeper] = []
  private var listeners: [WeakListener] = []
  private var asyncListeners: [WeakAsyncListener] = []

  func add(_ gatekeeper: any Gatekeeper) {
    gatekeepers.append(WeakGatekeeper(gatekeeper))
  }

  func add(_ gatekeeper: any PromptGatekeeper) {
    promptGatekeepers.append(WeakPromptGatekeeper(gatekeeper))
  }

  func add(_ listener: any Listener) {
    listeners.append(WeakListener(listener))
  }

  func add(_ listener: any AsyncListener) {
    asyncListeners.append(WeakAsyncListener(listener))
  }

  func remove(_ listener: any Listener) {
    listeners.removeAll { $0.value === listener }
  }

  func notify(_ body: @escaping @Sendable (any Listener) -> Void) {
    for box in listeners {
      if let listener = box.value {
        Task { body(listener) }
      }
    }
  }

  func notify(_ body: @escaping @Sendable (any AsyncListener) async -> Void) {
    for box in asyncListeners {
      if let listener = box.value {
        Task { await body(listener) }
      }
    }
  }

  func vote(_ body: @escaping @Sendable (any Gatekeeper) async -> Bool) async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
      for box in gatekeepers {
        if let gatekeeper = box.value {
          group.addTask { await body(gatekeeper) }
        }
      }
      for await isAllowed in group where !isAllowed {
        group.cancelAll()
        return false
      }
      return true
    }
  }

  func vote(_ body: @escaping @Sendable (any PromptGatekeeper) -> Bool) async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
      for box in promptGatekeepers {
        if let gatekeeper = box.value {
          group.addTask { body(gatekeeper) }
        }
      }
      for await isAllowed in group where !isAllowed {
        group.cancelAll()
        return false
      }
      return true
    }
  }
}
