extension DelegateHub {
  /// Asks every subscriber of a protocol, side by side, and returns each one's own result.
  ///
  /// An error that a handler throws is that subscriber's result. A subscriber that has not answered
  /// at the deadline has ``ReplyError/timedOut``; it is cancelled and not waited for. Subscribers
  /// that die or are removed before they are asked have no reply.
  ///
  /// **Order.** Replies are in the order of the subscriptions, not in the order of the answers.
  ///
  /// **Isolation** and **Cancellation.** As with ``vote(_:by:_:)``; with a deadline as with
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
  ///     zero nobody is asked, a negative one stops the program.
  ///   - body: the question.
  /// - Returns: the replies.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  public nonisolated func collect<P, R: Sendable>(
    _ protocol: P.Type, within duration: Duration? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> R
  ) async -> [Reply<R>] {
    await collect(
      among: Audience(`protocol`), by: deadline(within: duration, in: "collect(_:within:_:)"), body)
  }

  @inlinable
  @inline(__always)
  nonisolated func collect<P, R: Sendable>(
    among audience: Audience<P>, by deadline: Deadline?,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> R
  ) async -> [Reply<R>] {
    if isCalledOnOtherExecutor {
      return await withTaskExecutorPreference(ownExecutor) {
        () async in await self.collect(among: audience, by: deadline, body)
      }
    }
    let nodes = await snapshot(of: audience.key)
    @inline(__always)
    @Sendable nonisolated(nonsending) func answer(
      of node: SubscriptionNode
    ) async -> Answer<Reply<R>, Never> {
      guard let subscriber = node.subscriber(in: audience, for: .collect) else { return .absence }
      let result: Result<R, any Error>
      do throws(any Error) {
        result = .success(try await body(subscriber))
      } catch {
        node.noteFailure()
        result = .failure(error)
      }
      return .response(Reply(of: node, result: result))
    }
    let ballot = Ballot<AllResponses<Reply<R>>, Never>(
      asking: nodes.count, combiner: .all(), hasDeadline: deadline != nil)
    if deadline == nil, let node = soleSubscription(of: nodes) {
      return await decide(ballot, in: .collect, of: node) { await answer(of: $0) }.get()
    }
    let poll = Poll(ballot)
    let isLate: @Sendable (Int) -> Answer<Reply<R>, Never> = { position in
      .response(Reply(of: nodes[position], result: .failure(ReplyError.timedOut)))
    }
    return await conduct(
      poll, among: nodes, conformingTo: audience.narrowing, by: deadline, counting: isLate,
      noting: Self.noteLate(nodes, by: deadline, in: .collect), in: .collect
    ) { fanOut, worker, first, isSingle in
      await fanOut.run(from: first, as: worker, only: isSingle, to: poll) { await answer(of: $0) }
    }.get()
  }
}
