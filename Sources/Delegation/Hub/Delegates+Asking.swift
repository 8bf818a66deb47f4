/// Questions whose answers are not combined: for each subscriber's own result, and in turn.
extension Delegates {
  /// Asks every subscriber, side by side, and returns each one's own result.
  ///
  /// It returns when all have answered, or at the deadline. An error that a handler throws is that subscriber's result.
  /// For a subscriber that has not answered at the deadline, the result is ``DelegateHub/ReplyError/timedOut``; its
  /// handler is cancelled and not waited for. Subscribers that die or are removed before they are asked, or before the
  /// deadline at which they would be late, have no reply.
  ///
  /// **Order.** Replies are in the order of the subscriptions, not in the order of the answers.
  ///
  /// **Isolation** and **Cancellation.** As with `vote`.
  ///
  /// - Parameters:
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for no limit. With zero or less nobody
  ///     is asked.
  ///   - body: the question.
  /// - Returns: the replies.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @_alwaysEmitIntoClient
  public func collect<R: Sendable>(
    within duration: Duration? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> R
  ) async -> [DelegateHub.Reply<R>] {
    let asking = AskingForReply(AskingForResponse(recipients, in: .collect, body))
    return await hub.decide(asking, by: .all(), within: duration).outcome
  }

  /// Asks the subscribers one after another until one answers.
  ///
  /// A handler that returns `nil` has no answer, and the next subscriber is asked. Subscribers that die or are removed
  /// before their turn are skipped.
  ///
  /// **Order.** By priority, then in order of subscription. A question does not wait for the notifications posted
  /// before it.
  ///
  /// **Isolation.** Handlers run in the caller's task, where that task runs, on no actor. With an executor of the hub
  /// or the subscription, or with interceptors, they run in a task of their own, with the caller's task-locals and
  /// priority.
  ///
  /// **Cancellation.** Handlers in the caller's task see that it is cancelled. One that cancels its task cancels the
  /// caller.
  ///
  /// **Errors.** The first error thrown ends the call and is rethrown with its type.
  ///
  /// - Parameter body: the question.
  /// - Returns: the first answer, or `nil` if nobody had one.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @_alwaysEmitIntoClient
  public func askInTurn<R: Sendable, E>(
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> R?
  ) async throws(E) -> R? {
    let asking = AskingForResponse(recipients, in: .askInTurn, body)
    return try await hub.inTurn(recipients, in: .askInTurn) { _ in asking }.get()
  }

  /// Asks the subscribers one after another until one answers or the deadline comes; does not throw.
  ///
  /// As the form without `absent:`, but returns by the deadline even if a subscriber never answers and ignores
  /// cancellation. A late handler is cancelled, and may still run when the next subscriber is asked, or when the call
  /// returns. At the deadline of the whole call no further subscriber is asked. With a deadline each handler runs in a
  /// task of its own.
  ///
  /// **Cancellation.** Cancelling the caller's task cancels the present handler, and those that run after it: the
  /// remaining subscribers are still asked. The call returns when they have answered, or at the deadline.
  ///
  /// ```swift
  /// let user = await hub[Authenticator.self].askInTurn(
  ///   within: .milliseconds(200), absent: .abstains
  /// ) { try await $0.user(for: token) }
  /// ```
  ///
  /// - Parameters:
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for no limit. With zero or less nobody
  ///     is asked.
  ///   - each: how long to wait for each subscriber at most; `nil` for no limit. Both times may be given.
  ///   - absence: what to count for a subscriber that throws or is late: nothing, or an answer; `nil` is no answer.
  ///   - body: the question.
  /// - Returns: the first answer; `nil` if there was none, or none in time.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @_alwaysEmitIntoClient
  public func askInTurn<R: Sendable>(
    within duration: Duration? = nil, eachWithin each: Duration? = nil,
    absent absence: DelegateHub.Absence<R?>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> R?
  ) async -> R? {
    let asking = AskingForResponse(recipients, in: .askInTurn, absent: absence, body)
    return await hub.inTurn(recipients, in: .askInTurn, within: duration, each: each) { _ in
      asking
    }.outcome
  }

  /// Passes a value through the subscribers, each of which may change it or stop it.
  ///
  /// Each handler gets what the one before returned. A handler that returns `nil` stops the value: no subscriber after
  /// it is called. Subscribers that die or are removed before their turn are skipped. If nobody is subscribed, the
  /// value comes back as it is.
  ///
  /// **Order**, **Isolation**, **Cancellation** and **Errors.** As with `askInTurn`.
  ///
  /// - Parameters:
  ///   - value: the value to pass.
  ///   - body: calls a subscriber with the value, and returns the next value, or `nil` to stop.
  /// - Returns: what the last handler returned, or `nil` if a handler stopped the value.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @_alwaysEmitIntoClient
  public func pass<V: Sendable, E>(
    _ value: V, _ body: nonisolated(nonsending) @escaping @Sendable (P, V) async throws(E) -> V?
  ) async throws(E) -> V? {
    try await hub.inTurn(recipients, in: .pass, startingWith: value) {
      AskingToPass($0 ?? value, to: recipients, body)
    }.get()
  }

  /// Passes a value through the subscribers until the deadline comes; does not throw.
  ///
  /// As the form without `absent:`, with deadlines as in `askInTurn`. A subscriber that throws or is late leaves the
  /// value as it is, unless `absent` gives an answer.
  ///
  /// - Warning: With `absent: .abstains` the value that comes back at the deadline may not have been seen by all
  ///   subscribers. If each subscriber must see the value, say `.counts(as: nil)`, which stops it.
  ///
  /// - Parameters:
  ///   - value: the value to pass.
  ///   - duration: as for `askInTurn`.
  ///   - each: as for `askInTurn`.
  ///   - absence: what to count for a subscriber that throws or is late: nothing, or an answer; `nil` stops the value.
  ///   - body: as in the form without `absent:`.
  /// - Returns: what the last handler returned, `nil` if a handler stopped the value; at the deadline the value so far,
  ///   or what `absent` says.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @_alwaysEmitIntoClient
  public func pass<V: Sendable>(
    _ value: V, within duration: Duration? = nil, eachWithin each: Duration? = nil,
    absent absence: DelegateHub.Absence<V?>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P, V) async throws -> V?
  ) async -> V? {
    await hub.inTurn(recipients, in: .pass, within: duration, each: each, startingWith: value) {
      AskingToPass($0 ?? value, to: recipients, absent: absence, body)
    }.outcome
  }
}

/// Questions with closures that await nothing: they run on their actor, if they belong to one.
extension Delegates where P: Sendable {
  /// `collect` for a closure that awaits nothing.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public func collect<R: Sendable>(
    within duration: Duration? = nil, _ body: @escaping @isolated(any) @Sendable (P) throws -> R
  ) async -> [DelegateHub.Reply<R>] {
    let asking = AskingInLoop(recipients, in: .collect, on: body.isolation, unisolated(body))
    return await hub.decideOutOfLine(AskingForReply(asking), by: .all(), within: duration).outcome
  }

  /// `askInTurn` for a closure that awaits nothing.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public func askInTurn<R: Sendable, E>(
    _ body: @escaping @isolated(any) @Sendable (P) throws(E) -> R?
  ) async throws(E) -> R? {
    let asking = AskingInLoop(recipients, in: .askInTurn, on: body.isolation, unisolated(body))
    return try await hub.inTurn(recipients, in: .askInTurn) { _ in asking }.get()
  }

  /// `askInTurn` with `absent:` for a closure that awaits nothing.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public func askInTurn<R: Sendable>(
    within duration: Duration? = nil, eachWithin each: Duration? = nil,
    absent absence: DelegateHub.Absence<R?>,
    _ body: @escaping @isolated(any) @Sendable (P) throws -> R?
  ) async -> R? {
    let asking = AskingInLoop(
      recipients, in: .askInTurn, absent: absence, on: body.isolation, unisolated(body))
    return await hub.inTurn(recipients, in: .askInTurn, within: duration, each: each) { _ in
      asking
    }.outcome
  }

  /// `pass` for a closure that awaits nothing.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public func pass<V: Sendable, E>(
    _ value: V, _ body: @escaping @isolated(any) @Sendable (P, V) throws(E) -> V?
  ) async throws(E) -> V? {
    let (actor, body) = (body.isolation, unisolated(body))
    return try await hub.inTurn(recipients, in: .pass, startingWith: value) { next in
      AskingInLoop(recipients, in: .pass, on: actor) { subscriber throws(E) in
        try body(subscriber, next ?? value)
      }
    }.get()
  }

  /// `pass` with `absent:` for a closure that awaits nothing.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public func pass<V: Sendable>(
    _ value: V, within duration: Duration? = nil, eachWithin each: Duration? = nil,
    absent absence: DelegateHub.Absence<V?>,
    _ body: @escaping @isolated(any) @Sendable (P, V) throws -> V?
  ) async -> V? {
    let (actor, body) = (body.isolation, unisolated(body))
    return await hub.inTurn(
      recipients, in: .pass, within: duration, each: each, startingWith: value
    ) { next in
      AskingInLoop(recipients, in: .pass, absent: absence, on: actor) {
        try body($0, next ?? value)
      }
    }.outcome
  }
}
