import Distributed

/// Who decides about guests and is told of them, wherever it lives.
public protocol Gatekeeper: AnyObject, Sendable {
  /// Whether a guest may enter.
  func mayEnter(_ guest: String) async throws -> Bool
  /// A guest has entered.
  func didEnter(_ number: Int) async throws
}

/// A gatekeeper in another process, and what it has to tell of itself.
@Resolvable
public protocol RemoteGatekeeper: DistributedActor
where ActorSystem: DistributedActorSystem<any Codable> {
  /// Whether a guest may enter.
  distributed func mayEnter(_ guest: String) async throws -> Bool
  /// A guest has entered.
  distributed func didEnter(_ number: Int) async throws
  /// Waits until it has been asked about that many guests, and returns all of them.
  distributed func guests(atLeast count: Int) async throws -> [String]
  /// Who has entered, in order.
  distributed func entered() async throws -> [Int]
}

extension $RemoteGatekeeper: Gatekeeper {}

/// How a gatekeeper treats a guest.
package enum Guest {
  /// Everybody lets her in.
  package static let welcome = "Alice"
  /// Nobody lets him in.
  package static let unwelcome = "Mallory"
  /// The answer never comes, though the question be cancelled.
  package static let unanswered = "Godot"
  /// The answer is an error.
  package static let impossible = "Nobody"
}
