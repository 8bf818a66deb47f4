/// Questions that are asked in turn; how is in `DelegateHub+TakingTurns`.
extension DelegateHub {
  /// Asks the subscribers of a protocol one after another until one answers.
  ///
  /// A handler that returns `nil` has no answer, and the next subscriber is asked. Subscribers that die
  /// or are removed on the way are skipped.
  ///
  /// **Order.** By priority, then in order of subscription; each is asked when the one before has
  /// returned. A question does not wait for the notifications posted before it.
  ///
  /// **Isolation.** Handlers run on the hub's executor or the subscription's, on no actor, with the caller's
  /// task-locals and priority; those on a subscription's executor in a task of their own, the others in the
  /// caller's task.
  ///
  /// **Cancellation.** If the caller's task is cancelled, its handlers see that they are cancelled. A handler that
  /// cancels the caller's task cancels the caller.
  ///
  /// **Errors.** The first error thrown ends the call and is rethrown with its type.
  ///
  /// ```swift
  /// let user = await hub.askInTurn(Authenticator.self) { await $0.user(for: token) }
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to ask.
  ///   - body: the question.
  /// - Returns: the first answer, or `nil` if nobody had one.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @_alwaysEmitIntoClient
  public nonisolated func askInTurn<P, R: Sendable, E>(
    _ protocol: P.Type,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> R?
  ) async throws(E) -> R? {
    try await askInTurn(Audience(`protocol`), body).get()
  }

  /// The same with a closure that awaits nothing: if it belongs to an actor, it is called there, and who has been removed
  /// before that is not.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public nonisolated func askInTurn<P: Sendable, R: Sendable, E>(
    _ protocol: P.Type, _ body: @escaping @isolated(any) @Sendable (P) throws(E) -> R?
  ) async throws(E) -> R? {
    try await askInTurn(Audience(`protocol`), isolated: body).get()
  }

  /// Passes a value through the subscribers of a protocol, each of which may change it or stop it.
  ///
  /// Each handler gets what the one before returned. A handler that returns `nil` stops the value:
  /// no subscriber after it is called. Subscribers that die or are removed on the way are skipped.
  /// If nobody is subscribed, the value comes back as it is.
  ///
  /// **Order**, **Isolation**, **Cancellation** and **Errors.** As with ``askInTurn(_:_:)``.
  ///
  /// ```swift
  /// if let text = await hub.pass(message, through: Rewriter.self, { await $0.rewrite($1) }) {
  ///   send(text)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - value: the value to pass.
  ///   - protocol: the protocol whose subscribers to pass it through.
  ///   - body: the step.
  /// - Returns: what the last one returned, or `nil` if one stopped it.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @_alwaysEmitIntoClient
  public nonisolated func pass<P, V: Sendable, E>(
    _ value: V, through protocol: P.Type,
    _ body: nonisolated(nonsending) @escaping @Sendable (P, V) async throws(E) -> V?
  ) async throws(E) -> V? {
    try await pass(value, Audience(`protocol`), body).get()
  }

  /// The same with a closure that awaits nothing: if it belongs to an actor, it is called there, and who has been removed
  /// before that is not.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public nonisolated func pass<P: Sendable, V: Sendable, E>(
    _ value: V, through protocol: P.Type,
    _ body: @escaping @isolated(any) @Sendable (P, V) throws(E) -> V?
  ) async throws(E) -> V? {
    try await pass(value, Audience(`protocol`), isolated: body).get()
  }

  /// Asks the subscribers of a protocol one after another until one answers or the deadline comes;
  /// does not throw.
  ///
  /// As ``askInTurn(_:_:)``, but goes on by the deadline even if a subscriber never answers and ignores
  /// cancellation. A subscriber that throws or is late is skipped, or has the answer that `absent` says.
  /// A handler that is late is cancelled, and may still be running when the next subscriber is asked, or when it
  /// returns. At the deadline of the whole call no further subscriber is asked.
  ///
  /// **Order.** By priority, then in order of subscription; each is asked when the one before has
  /// returned or is late.
  ///
  /// **Isolation.** As with ``askInTurn(_:_:)``, except that with a deadline each handler runs in a task of
  /// its own, with the caller's task-locals and priority.
  ///
  /// **Cancellation.** Cancelling the caller's task cancels the handler that runs, and those that
  /// run after it. The call returns when they have answered, or at the deadline.
  ///
  /// **Errors.** It does not throw.
  ///
  /// ```swift
  /// let user = await hub.askInTurn(
  ///   Authenticator.self, within: .milliseconds(200), absent: .abstains
  /// ) { try await $0.user(for: token) }
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to ask.
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for as long as it takes. With
  ///     zero or less nobody is asked.
  ///   - each: how long to wait for each subscriber at most; `nil` for as long as it takes. Both may be given.
  ///   - absence: what to count for a subscriber that throws or is late: nothing, or an answer; `nil` is
  ///     no answer.
  ///   - body: the question.
  /// - Returns: the first answer; `nil` if nobody had one, and if nobody had one in time.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @_alwaysEmitIntoClient
  public nonisolated func askInTurn<P, R: Sendable>(
    _ protocol: P.Type, within duration: Duration? = nil, eachWithin each: Duration? = nil,
    absent absence: Absence<R?>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> R?
  ) async -> R? {
    let audience = Audience(`protocol`)
    return await askInTurn(audience, within: duration, each: each, absent: absence, body).outcome
  }

  /// The same with a closure that awaits nothing: if it belongs to an actor, it is called there, and who has been removed
  /// before that is not.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public nonisolated func askInTurn<P: Sendable, R: Sendable>(
    _ protocol: P.Type, within duration: Duration? = nil, eachWithin each: Duration? = nil,
    absent absence: Absence<R?>, _ body: @escaping @isolated(any) @Sendable (P) throws -> R?
  ) async -> R? {
    await askInTurn(
      Audience(`protocol`), within: duration, each: each, absent: absence, isolated: body
    ).outcome
  }

  /// Passes a value through the subscribers of a protocol until the deadline comes; does not throw.
  ///
  /// As ``pass(_:through:_:)``, but goes on by the deadline even if a subscriber never answers and ignores
  /// cancellation. A subscriber that throws or is late is skipped and leaves the value as it is, or has the answer
  /// that `absent` says. A handler that is late is cancelled, and may still be running when the next subscriber is
  /// asked, or when it returns. At the deadline of the whole call no further subscriber is asked.
  ///
  /// - Warning: With `absent: .abstains` the value that comes back at the deadline may not have
  ///   been seen by all subscribers. If each of them must see it, stop it with `.counts(as: nil)`.
  ///
  /// **Order**, **Isolation**, **Cancellation** and **Errors.** As with
  /// ``askInTurn(_:within:eachWithin:absent:_:)``.
  ///
  /// ```swift
  /// let text = await hub.pass(
  ///   message, through: Rewriter.self, within: .milliseconds(50), absent: .abstains
  /// ) { try await $0.rewrite($1) }
  /// ```
  ///
  /// - Parameters:
  ///   - value: the value to pass.
  ///   - protocol: the protocol whose subscribers to pass it through.
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for as long as it takes. With
  ///     zero or less nobody is asked.
  ///   - each: how long to wait for each subscriber at most; `nil` for as long as it takes. Both may be given.
  ///   - absence: what to count for a subscriber that throws or is late: nothing, or an answer; `nil`
  ///     stops the value.
  ///   - body: the step.
  /// - Returns: what the last one returned, `nil` if one stopped it; at the deadline the value so far, or
  ///   what `absent` says.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @_alwaysEmitIntoClient
  public nonisolated func pass<P, V: Sendable>(
    _ value: V, through protocol: P.Type, within duration: Duration? = nil,
    eachWithin each: Duration? = nil, absent absence: Absence<V?>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P, V) async throws -> V?
  ) async -> V? {
    let audience = Audience(`protocol`)
    return await pass(value, audience, within: duration, each: each, absent: absence, body).outcome
  }

  /// The same with a closure that awaits nothing: if it belongs to an actor, it is called there, and who has been removed
  /// before that is not.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public nonisolated func pass<P: Sendable, V: Sendable>(
    _ value: V, through protocol: P.Type, within duration: Duration? = nil,
    eachWithin each: Duration? = nil, absent absence: Absence<V?>,
    _ body: @escaping @isolated(any) @Sendable (P, V) throws -> V?
  ) async -> V? {
    await pass(
      value, Audience(`protocol`), within: duration, each: each, absent: absence, isolated: body
    ).outcome
  }
}
