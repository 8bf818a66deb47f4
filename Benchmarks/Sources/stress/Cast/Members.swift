/// A subscriber that conducts itself somehow.
protocol Subscriber: Listener, Gatekeeper {
  /// What it does when it is called.
  var conduct: Conduct { get }
}

/// A subscriber that is an object.
final class Member: Subscriber {
  let conduct: Conduct

  /// Makes one.
  ///
  /// - Parameter conduct: what it does when it is called.
  init(_ conduct: Conduct) { self.conduct = conduct }

  func saw(_ event: Event) throws { try conduct.saw(event) }
  func heard(_ event: Event) async throws { try await conduct.heard(event) }
  func allows(_ event: Event) async throws -> Bool { try await conduct.allows(event) }
}

/// A subscriber that is an actor: what takes its time hops to it.
actor Official: Subscriber {
  nonisolated let conduct: Conduct

  /// Makes one.
  ///
  /// - Parameter conduct: what it does when it is called.
  init(_ conduct: Conduct) { self.conduct = conduct }

  nonisolated func saw(_ event: Event) throws { try conduct.saw(event) }
  func heard(_ event: Event) async throws { try await conduct.heard(event) }
  func allows(_ event: Event) async throws -> Bool { try await conduct.allows(event) }
}
