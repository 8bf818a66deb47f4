extension DelegateHub {
  /// Asks every subscriber of a protocol, side by side, and returns each one's own result.
  ///
  /// An error that a handler throws is that subscriber's result. A subscriber that has not answered
  /// at the deadline has ``ReplyError/timedOut``; it is cancelled and not waited for. Subscribers
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
    @inline(__always)
    @Sendable func answer(of node: SubscriptionNode) async -> Answer<Reply<R>, Never> {
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
    let isElsewhere = isCalledOnOtherExecutor
    if deadline == nil,
      let node = soleSubscription(of: audience.key, calledElsewhere: isElsewhere)
    {
      let ballot = Ballot<Reduction<Reply<R>, [Reply<R>]>, Never>(asking: 1, combiner: .all())
      return await decide(ballot, in: .collect, of: node) { await answer(of: $0) }.get()
    }
    var poll: Poll<Ballot<Reduction<Reply<R>, [Reply<R>]>, Never>>?
    await conduct(audience, in: .collect, by: deadline, calledElsewhere: isElsewhere) { nodes in
      let present = Poll(
        Ballot<Reduction<Reply<R>, [Reply<R>]>, Never>(
          asking: nodes.count, combiner: .all(), hasDeadline: deadline != nil))
      poll = present
      if present.isDecidedAtOnce() { return nil }
      return Inquiry { round, worker, first, isSingle in
        await round.run(from: first, as: worker, only: isSingle, to: present) {
          await answer(of: $0)
        }
      } expiring: { round, isNoting in
        let late: @Sendable (Int) -> Void = { nodes[$0].noteLate(in: .collect) }
        present.expire(in: round, noting: isNoting ? late : nil) {
          .response(Reply(of: nodes[$0], result: .failure(ReplyError.timedOut)))
        }
      }
    }
    return Poll.takeDecision(of: poll).get()
  }
}
