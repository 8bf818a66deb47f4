import Delegation
import Synchronization

/// The extensions that there are to be loaded, and those that are.
package final class Shelf: Sendable {
  private let hub: DelegateHub
  private let makers: [String: @Sendable () -> any ChatExtension]
  private let loaded = Mutex<[String: any ChatExtension]>([:])

  /// Makes a shelf of what may become the gates of a hub, of which nothing is loaded.
  package init(for hub: DelegateHub, floodLimit flood: Int = 20) {
    self.hub = hub
    makers = [
      "doorkeeper": { Doorkeeper() }, "moderator": { Moderator() },
      "flood-limit": { FloodLimit(flood) }, "hanging": { Hanging() },
    ]
  }

  /// The names of those that there are.
  package var names: [String] { makers.keys.sorted() }

  /// Loads an extension, or a fresh one in place of one that is loaded: there is no moment in which neither is asked.
  ///
  /// - Returns: whether there is one of that name.
  @discardableResult
  package func load(_ name: String) -> Bool {
    guard let new = makers[name]?() else { return false }
    // sample: ChatLoading
    hub.subscribe(
      new, toEachOf: JoinGate.self, SpeechGate.self, id: name, hold: .strongly)
    // end of sample
    let former = loaded.withLock { $0.updateValue(new, forKey: name) }
    former?.wasUnloaded()
    return true
  }

  /// Unloads an extension.
  ///
  /// - Returns: which of its handlers still ran after 100 milliseconds; `nil` if it was not loaded.
  package func unload(_ name: String) async -> DelegateHub.Leftovers? {
    guard let former = loaded.withLock({ $0.removeValue(forKey: name) }) else { return nil }
    // sample: ChatLoading
    let left = await hub.unsubscribeAndWait(former, within: .milliseconds(100))
    // end of sample
    former.wasUnloaded()
    return left
  }
}
