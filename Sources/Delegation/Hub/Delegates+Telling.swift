extension Delegates {
  /// Calls a synchronous handler on every subscriber, without waiting for any.
  ///
  /// As ``DelegateHub/notify(_:_:)-9yydi``.
  ///
  /// - Parameter body: what to do with each subscriber.
  /// - Complexity: O(1) in the number of subscribers.
  @inlinable
  public func notify(_ body: @escaping @Sendable (P) throws -> Void) {
    hub.notify(among: audience, body)
  }

  /// Calls an asynchronous handler on every subscriber, without waiting for any.
  ///
  /// As ``DelegateHub/notify(_:_:)-2z5cx``.
  ///
  /// - Parameter body: what to do with each subscriber.
  /// - Complexity: O(1) in the number of subscribers.
  @inlinable
  public func notify(
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void
  ) {
    hub.notify(among: audience, body)
  }

  /// Calls a handler on every subscriber on the main actor, without waiting for any.
  ///
  /// As ``DelegateHub/notify(_:_:)-2mdiv``.
  ///
  /// - Parameter body: what to do with each subscriber.
  /// - Complexity: O(1) in the number of subscribers.
  @inlinable
  public func notify<E>(_ body: @escaping @MainActor @Sendable (P) throws(E) -> Void) {
    hub.notifyOnMainActor(among: audience, body)
  }

  /// Calls a handler on every subscriber, and waits until all have handled it.
  ///
  /// As ``DelegateHub/notifyAndWait(_:within:_:)``.
  ///
  /// - Parameters:
  ///   - duration: how long to wait at most; `nil` for as long as it takes.
  ///   - body: what to do with each subscriber.
  /// - Returns: the subscribers that had not passed the notification when it returned.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  @discardableResult
  public func notifyAndWait(
    within duration: Duration? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void
  ) async -> DelegateHub.Leftovers {
    await hub.notifyAndWait(
      among: audience, by: hub.deadline(within: duration), body)
  }
}
