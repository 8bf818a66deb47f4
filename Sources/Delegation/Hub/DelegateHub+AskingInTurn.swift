extension DelegateHub {
  /// Asks the subscribers of a protocol one after another until one answers.
  ///
  /// A handler that returns `nil` has no answer, and the next subscriber is asked. Subscribers that die
  /// or are removed on the way are skipped.
  ///
  /// **Order.** By priority, then in order of subscription; each is asked when the one before has
  /// returned. A question does not wait for the notifications posted before it.
  ///
  /// **Isolation.** Handlers run in the caller's task, with its task-locals and priority, on the hub's
  /// executor or the subscription's, on no actor.
  ///
  /// **Cancellation.** Handlers run in the caller's task: if it is cancelled, they find themselves cancelled.
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
  @inlinable
  public nonisolated func askInTurn<P, R: Sendable, E>(
    _ protocol: P.Type,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> R?
  ) async throws(E) -> R? {
    try await askInTurn(among: Audience(`protocol`), body)
  }

  @inlinable
  @inline(__always)
  nonisolated func askInTurn<P, R: Sendable, E>(
    among audience: Audience<P>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> R?
  ) async throws(E) -> R? {
    if isCalledOnOtherExecutor {
      return try await withTaskExecutorPreference(ownExecutor) {
        () async throws(E) in try await self.askInTurn(among: audience, body)
      }
    }
    let result: Result<R?, E> = await inTurn(of: audience.key, in: .askInTurn, startingWith: nil) {
      node, _ in
      guard let subscriber = node.subscriber(in: audience, for: .askInTurn) else { return nil }
      do throws(E) {
        let answer = try await body(subscriber)
        return answer == nil ? .goOn(nil) : .stop(.success(answer))
      } catch {
        node.noteFailure()
        return .stop(.failure(error))
      }
    }
    return try result.get()
  }

  /// Passes a value through the subscribers of a protocol, each of which may change it or stop it.
  ///
  /// Each handler gets what the one before returned. One that returns `nil` stops the value: nobody
  /// after it is called. Subscribers that die or are removed on the way are skipped. With nobody
  /// subscribed the value comes back as it is.
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
  @inlinable
  public nonisolated func pass<P, V: Sendable, E>(
    _ value: V, through protocol: P.Type,
    _ body: nonisolated(nonsending) @escaping @Sendable (P, V) async throws(E) -> V?
  ) async throws(E) -> V? {
    try await pass(value, among: Audience(`protocol`), body)
  }

  @inlinable
  @inline(__always)
  nonisolated func pass<P, V: Sendable, E>(
    _ value: V, among audience: Audience<P>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P, V) async throws(E) -> V?
  ) async throws(E) -> V? {
    if isCalledOnOtherExecutor {
      return try await withTaskExecutorPreference(ownExecutor) {
        () async throws(E) in try await self.pass(value, among: audience, body)
      }
    }
    let result: Result<V?, E> = await inTurn(of: audience.key, in: .pass, startingWith: value) {
      node, value in
      guard let value, let subscriber = node.subscriber(in: audience, for: .pass) else {
        return nil
      }
      do throws(E) {
        let changed = try await body(subscriber, value)
        return changed == nil ? .stop(.success(nil)) : .goOn(changed)
      } catch {
        node.noteFailure()
        return .stop(.failure(error))
      }
    }
    return try result.get()
  }

  /// Asks subscriptions one after another in the caller's task.
  ///
  /// - Parameters:
  ///   - key: the key of the protocol.
  ///   - call: the kind of call.
  ///   - value: the initial value.
  ///   - take: one subscriber's turn; `nil` if it is skipped.
  /// - Returns: the result of the last turn.
  @inlinable
  nonisolated(nonsending) func inTurn<Value: Sendable, E>(
    of key: ObjectIdentifier, in call: CallKind, startingWith value: Value,
    _ take:
      nonisolated(nonsending) @escaping @Sendable (SubscriptionNode, Value) async -> Turn<Value, E>?
  ) async -> Result<Value, E> {
    // Turns follow each other, so the lock is never contended; the compiler needs it to prove that.
    let state = Lock(Result<Value, E>.success(value))
    // Not kept by a name, so that a suspended handler keeps one subscription and not all.
    let fanOut = FanOut(asking: await snapshot(of: key), inOrder: .inTurn, for: self, in: call) {
      fanOut, worker, first, isSingle in
      await fanOut.run(from: first, as: worker, only: isSingle, absence: nil) {
        node -> Turn<Value, E>? in
        guard case .success(let value) = state.withLock({ $0 }) else { return nil }
        return await take(node, value)
      } report: { turn, _ in
        switch turn {
        case .goOn(let value):
          state.withLock { $0 = .success(value) }
        case .stop(let result):
          state.withLock { $0 = result }
          fanOut.halt()
        case nil: break
        }
      }
    }
    await fanOut.runInTurn()
    return state.withLock { $0 }
  }
}
