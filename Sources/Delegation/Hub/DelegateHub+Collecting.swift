extension DelegateHub {
  /// Asks every subscriber of a protocol, side by side, and returns each one's own result.
  ///
  /// An error that a handler throws is that subscriber's result. A subscriber that has not answered
  /// at the deadline has ``DelegateHub/ReplyError/timedOut``; it is cancelled and not waited for. Subscribers
  /// that die or are removed before they are asked have no reply.
  ///
  /// **Order.** Replies are in the order of the subscriptions, not in the order of the answers.
  ///
  /// **Isolation** and **Cancellation.** As with ``vote(_:by:_:)-2k4ay``; with a deadline as with
  /// ``vote(_:by:within:absent:_:)``.
  ///
  /// **Errors.** It does not throw: errors are in the replies.
  ///
  /// ```swift
  /// let replies = await hub.collect(HealthCheck.self, within: .seconds(1)) { try await $0.probe() }
  /// for reply in replies {
  ///   print(reply.subscriber, reply.result)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to ask.
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for as long as it takes. With
  ///     zero or less nobody is asked.
  ///   - body: the question.
  /// - Returns: the replies.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  public nonisolated func collect<P, R: Sendable>(
    _ protocol: P.Type, within duration: Duration? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> R
  ) async -> [Reply<R>] {
    await collect(among: Audience(`protocol`), within: duration, body)
  }

  @inlinable
  @inline(__always)
  nonisolated func collect<P, R: Sendable>(
    among audience: Audience<P>, within duration: Duration?,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> R
  ) async -> [Reply<R>] {
    let asking = AskingForReply(audience, body)
    guard let deadline = deadline(within: duration) else {
      return await decide(audience, by: Reduction.all(), in: .collect, asking).get()
    }
    return await decide(
      audience, by: Reduction.all(), in: .collect, within: deadline, asking
    ).get()
  }
}
