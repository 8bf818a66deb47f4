import Delegation
import Synchronization

/// Gives up an extension when too many of its handlers hang: nobody can end a handler, and each keeps some memory.
///
/// What the extension guards stays closed, for guards are missed by name.
final class Patience: Sendable {
  private struct State {
    /// Invariant: only of subscriptions that were there at the last ``remove(_:)`` or came since.
    var names: [DelegateHub.Subscription: String] = [:]
    var givenUp: Set<String> = []
  }

  /// How many handlers of one subscription may run at a time when one of them is late.
  static let limit = 1000

  private let state = Mutex(State())

  var givenUp: Set<String> { state.withLock { $0.givenUp } }

  func add(_ subscription: DelegateHub.Subscription, of name: String) {
    state.withLock { state in
      state.names[subscription] = name
      state.givenUp.remove(name)
    }
  }

  /// Takes note that an extension was removed.
  func remove(_ name: String) {
    let ended = state.withLock { state in
      let ended = state.names.keys.filter { !$0.isActive }
      for subscription in ended { state.names[subscription] = nil }
      state.givenUp.remove(name)
      return ended
    }
    withExtendedLifetime(ended) {}
  }

  /// Ends the subscription of a late handler if too many of its handlers run.
  ///
  /// - Returns: whose it was, if it has been ended by this.
  func giveUp(after incident: DelegateHub.Incident) -> String? {
    guard incident.kind == .late, incident.subscription.isActive,
      incident.subscription.statistics.running >= Self.limit,
      let name = state.withLock({ $0.names[incident.subscription] })
    else { return nil }
    incident.subscription.cancel()
    state.withLock { _ = $0.givenUp.insert(name) }
    return name
  }
}
