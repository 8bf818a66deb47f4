import ArgumentParser

/// Which engine a server runs on.
package enum EngineKind: String, Sendable, CaseIterable, ExpressibleByArgument {
  /// A `DelegateHub` for the extensions and one for each room.
  case hub
  /// The same, and who says something waits until all members have taken it.
  case awaiting
  /// Actors with arrays of delegates, and task groups.
  case actor
  /// A serial dispatch queue for each delegate.
  case queues
}
