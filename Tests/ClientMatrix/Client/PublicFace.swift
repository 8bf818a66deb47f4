public import Delegation

/// What a library would show of its hub: with `InternalImportsByDefault` that takes a `public import`.
public nonisolated final class Club: Sendable {
  /// The club's hub.
  public let hub: DelegateHub

  /// The half to give away.
  public var doors: DelegateRegistry<any Door> { hub[(any Door).self].registry }

  /// Opens a club.
  ///
  /// - Parameter hub: its hub.
  public init(hub: DelegateHub) { self.hub = hub }

  /// Asks all doors and tells them, if the rule admits the guest.
  ///
  /// - Parameters:
  ///   - guest: who wants to come in.
  ///   - rule: who has to agree.
  /// - Returns: what is left to be handled: nothing.
  public func admit(
    _ guest: String, by rule: some Combiner<Bool, Bool>
  ) async -> DelegateHub.Leftovers {
    if await hub[(any Door).self].vote(by: rule, { await $0.mayEnter(guest) }) {
      hub[(any Door).self].notify { $0.didEnter(guest) }
    }
    return await hub.drain()
  }
}
