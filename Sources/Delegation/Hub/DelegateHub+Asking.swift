/// Questions that are asked side by side, with closures that await something.
///
/// How they are asked is in `DelegateHub+Polling`, and how one subscriber is in ``Asking``.
extension DelegateHub {
  /// Asks every subscriber of a protocol for a yes or no, side by side, and combines the answers.
  ///
  /// Returns as soon as the outcome is fixed. Handlers that still run are then cancelled and not
  /// waited for, and handlers that have not begun are not called.
  ///
  /// **Order.** Subscribers are asked by priority, then in order of subscription; they answer in
  /// any order. Handlers that suspend overlap, so the call takes as long as the slowest of them. If
  /// the hub has no executor, handlers may run on the caller's thread until one suspends. One that
  /// blocks there delays the subscribers after it and the caller, even if another answer fixes the
  /// outcome meanwhile. With a deadline, ``vote(_:by:within:absent:_:)``, it delays nobody as long as
  /// the pool has a thread left.
  ///
  /// **Isolation.** Handlers run on the hub's executor or the subscription's, on no actor, with the
  /// caller's task-locals and priority; an `async` method of an actor runs on that actor. A closure that belongs to
  /// an actor, as one that says `@MainActor`, runs there. If it awaits nothing, a subscriber that has been removed
  /// there is not asked afterwards, in any call. One that awaits may still be entered.
  ///
  /// **Cancellation.** Cancelling the caller's task cancels the handlers; the call returns when
  /// they have answered. The thread that cancels it runs their cancellation handlers: one that blocks holds up
  /// that thread, and the call. A single subscriber is asked in the caller's own task, if neither it nor the
  /// hub has an executor: a handler that cancels its task then cancels the caller.
  ///
  /// **Errors.** The first error thrown fails the call, cancels the rest, and is rethrown with its type.
  ///
  /// ```swift
  /// if await hub.vote(WorkerDelegate.self, { await $0.worker(self, shouldPerform: subtask) }) {
  ///   perform(subtask)  // nobody said no
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to ask.
  ///   - rule: how the answers combine; by default one `false` denies, and nobody to ask means `true`.
  ///   - body: the question.
  /// - Returns: the outcome.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @_alwaysEmitIntoClient
  public nonisolated func vote<P, E>(
    _ protocol: P.Type, by rule: some Combiner<Bool, Bool> = .unanimous,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> Bool
  ) async throws(E) -> Bool {
    let audience = Audience(`protocol`)
    return try await decide(audience, by: rule, in: .vote, AskingForVote(audience, body)).get()
  }

  /// Asks every subscriber of a protocol, side by side, and combines the responses.
  ///
  /// As ``vote(_:by:_:)-2k4ay``, for responses and outcomes of any type: it returns as soon as the combiner
  /// has an outcome.
  ///
  /// **Order**, **Isolation** and **Cancellation.** As with ``vote(_:by:_:)-2k4ay``. Responses reach the
  /// combiner as they come, with the subscriber's position.
  ///
  /// **Errors.** The first error thrown fails the call, cancels the rest, and is rethrown with its type.
  ///
  /// ```swift
  /// let load = await hub.ask(Node.self, combining: .sum()) { await $0.load }
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to ask.
  ///   - combiner: how the responses combine.
  ///   - body: the question.
  /// - Returns: the combiner's outcome.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, plus the combiner's work.
  @_alwaysEmitIntoClient
  public nonisolated func ask<P, C: Combiner, E>(
    _ protocol: P.Type, combining combiner: C,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> C.Response
  ) async throws(E) -> C.Outcome {
    let audience = Audience(`protocol`)
    let asking = AskingForResponse(audience, in: .ask, body)
    return try await decide(audience, by: combiner, in: .ask, asking).get()
  }

  /// Asks every subscriber of a protocol for a yes or no, returns by a deadline, and does not
  /// throw.
  ///
  /// As ``vote(_:by:_:)-2k4ay``, but it returns by the deadline even if a subscriber never answers and
  /// ignores cancellation. A subscriber that throws or is late counts as `absent` says. Late
  /// handlers are cancelled, and may still run when it returns.
  ///
  /// **Order** and **Isolation.** As with ``vote(_:by:_:)-2k4ay``, except that with a deadline no handler
  /// runs in the caller's place.
  ///
  /// **Cancellation.** Cancelling the caller's task cancels the handlers; the call returns when they
  /// have answered, or at the deadline.
  ///
  /// **Errors.** It does not throw.
  ///
  /// ```swift
  /// let isAllowed = await hub.vote(
  ///   Gatekeeper.self, by: .unanimous(ofAtLeast: 2), within: .milliseconds(50),
  ///   absent: .counts(as: false)
  /// ) { try await $0.mayEnter(guest) }
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to ask.
  ///   - rule: how the answers combine; by default one `false` denies, and nobody to ask means `true`.
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for as long as it takes. With
  ///     zero or less nobody is asked.
  ///   - absence: what to count for a subscriber that throws or is late.
  ///   - body: the question.
  /// - Returns: the outcome.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @_alwaysEmitIntoClient
  public nonisolated func vote<P>(
    _ protocol: P.Type, by rule: some Combiner<Bool, Bool> = .unanimous,
    within duration: Duration? = nil, absent absence: Absence<Bool>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Bool
  ) async -> Bool {
    await decide(Audience(`protocol`), by: rule, in: .vote, within: duration, absent: absence, body)
  }

  /// The same with a closure that awaits nothing: if it belongs to an actor, it is called there, and who has been removed
  /// before that is not.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public nonisolated func vote<P: Sendable>(
    _ protocol: P.Type, by rule: some Combiner<Bool, Bool> = .unanimous,
    within duration: Duration? = nil, absent absence: Absence<Bool>,
    _ body: @escaping @isolated(any) @Sendable (P) throws -> Bool
  ) async -> Bool {
    await decide(
      by: rule, within: duration,
      AskingInPlace(Audience(`protocol`), in: .vote, absent: absence, isolated: body))
  }

  /// Asks every subscriber of a protocol, combines the responses, returns by a deadline, and does
  /// not throw.
  ///
  /// As ``vote(_:by:within:absent:_:)``, for responses and outcomes of any type.
  ///
  /// **Order**, **Isolation** and **Cancellation.** As with ``vote(_:by:within:absent:_:)``.
  ///
  /// **Errors.** It does not throw.
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to ask.
  ///   - combiner: how the responses combine.
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for as long as it takes. With
  ///     zero or less nobody is asked.
  ///   - absence: what to count for a subscriber that throws or is late.
  ///   - body: the question.
  /// - Returns: the combiner's outcome.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, plus the combiner's work.
  @_alwaysEmitIntoClient
  public nonisolated func ask<P, C: Combiner>(
    _ protocol: P.Type, combining combiner: C, within duration: Duration? = nil,
    absent absence: Absence<C.Response>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> C.Response
  ) async -> C.Outcome {
    await decide(
      Audience(`protocol`), by: combiner, in: .ask, within: duration, absent: absence, body)
  }

  /// The same with a closure that awaits nothing: if it belongs to an actor, it is called there, and who has been removed
  /// before that is not.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public nonisolated func ask<P: Sendable, C: Combiner>(
    _ protocol: P.Type, combining combiner: C, within duration: Duration? = nil,
    absent absence: Absence<C.Response>,
    _ body: @escaping @isolated(any) @Sendable (P) throws -> C.Response
  ) async -> C.Outcome {
    await decide(
      by: combiner, within: duration,
      AskingInPlace(Audience(`protocol`), in: .ask, absent: absence, isolated: body))
  }

  @_alwaysEmitIntoClient
  @inline(__always)
  nonisolated func decide<P, C: Combiner>(
    by combiner: C, within duration: Duration?,
    _ asking: AskingInPlace<P, C.Response, any Error>
  ) async -> C.Outcome {
    let deadline = deadline(within: duration)
    return await decide(
      asking.audience, by: combiner, in: asking.call, within: deadline, asking
    ).outcome
  }

  /// Asks with a deadline, or none, and counts what is thrown as absent.
  @_alwaysEmitIntoClient
  @inline(__always)
  nonisolated func decide<P, C: Combiner>(
    _ audience: Audience<P>, by combiner: C, in call: CallKind, within duration: Duration?,
    absent absence: Absence<C.Response>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> C.Response
  ) async -> C.Outcome {
    let asking = AskingForResponse(audience, in: call, absent: absence, body)
    let deadline = deadline(within: duration)
    return await decide(audience, by: combiner, in: call, within: deadline, asking).outcome
  }

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
  @_alwaysEmitIntoClient
  public nonisolated func collect<P, R: Sendable>(
    _ protocol: P.Type, within duration: Duration? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> R
  ) async -> [Reply<R>] {
    await collect(Audience(`protocol`), within: duration, body)
  }

  /// The same with a closure that awaits nothing: if it belongs to an actor, it is called there, and who has been removed
  /// before that is not.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public nonisolated func collect<P: Sendable, R: Sendable>(
    _ protocol: P.Type, within duration: Duration? = nil,
    _ body: @escaping @isolated(any) @Sendable (P) throws -> R
  ) async -> [Reply<R>] {
    await collect(Audience(`protocol`), within: duration, isolated: body)
  }

  @_alwaysEmitIntoClient
  nonisolated func collect<P, R: Sendable>(
    _ audience: Audience<P>, within duration: Duration?,
    isolated body: @escaping @isolated(any) @Sendable (P) throws -> R
  ) async -> [Reply<R>] {
    let asking = AskingForReplyInPlace(AskingInPlace(audience, in: .collect, isolated: body))
    let deadline = deadline(within: duration)
    return await decide(audience, by: .all(), in: .collect, within: deadline, asking).get()
  }

  @_alwaysEmitIntoClient
  @inline(__always)
  nonisolated func collect<P, R: Sendable>(
    _ audience: Audience<P>, within duration: Duration?,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> R
  ) async -> [Reply<R>] {
    let asking = AskingForReply(audience, body)
    let deadline = deadline(within: duration)
    return await decide(audience, by: .all(), in: .collect, within: deadline, asking).get()
  }
}

extension Result {
  /// The outcome of a question that does not fail: it counts what is thrown as absent.
  @inlinable
  var outcome: Success {
    guard case .success(let outcome) = self else {
      fatalError("Delegation: a question failed that counts failures as absent")
    }
    return outcome
  }
}
