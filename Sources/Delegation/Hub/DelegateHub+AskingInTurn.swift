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
  /// **Cancellation.** Handlers run in the caller's task, those on the subscription's executor in a child
  /// task. If the caller's task is cancelled, they see that they are cancelled.
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
    let result: Result<R?, E> = await inTurn(
      of: audience.key, conformingTo: audience.narrowing, in: .askInTurn, startingWith: nil
    ) { node, _ in
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
    let result: Result<V?, E> = await inTurn(
      of: audience.key, conformingTo: audience.narrowing, in: .pass, startingWith: value
    ) { node, value in
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
  ///   - narrowing: the further protocols that those who are asked must conform to; `nil` for none.
  ///   - call: the kind of call.
  ///   - value: the initial value.
  ///   - take: one subscriber's turn; `nil` if it is skipped.
  /// - Returns: the result of the last turn.
  @inlinable
  nonisolated func inTurn<Value: Sendable, E>(
    of key: ObjectIdentifier, conformingTo narrowing: Narrowing?, in call: CallKind,
    startingWith value: Value,
    _ take:
      @escaping @Sendable (SubscriptionNode, Value) async -> Turn<Value, E>?
  ) async -> Result<Value, E> {
    if isCalledOnOtherExecutor {
      return await withTaskExecutorPreference(ownExecutor) { @concurrent in
        await self.inTurn(
          of: key, conformingTo: narrowing, in: call, startingWith: value, take)
      }
    }
    // No array of the subscriptions has a name here, so that a suspended handler does not keep all of them.
    var cursor = Cursor(await subscriptions(of: key))
    // Counted before it goes to the hub's executor, which may be busy: a drain has to see it.
    let worker = beginAsking()
    defer { endAsking(worker) }
    guard let executor, cursor.unclaimed > 0 else {
      return await takeTurns(
        of: &cursor, conformingTo: narrowing, as: worker, in: call, startingWith: value, take)
    }
    // Entered after the snapshot, because the hub's actor must not be taken there. And concurrent, so that it
    // goes there before the first handler, which may be synchronous.
    return await withTaskExecutorPreference(executor) { @concurrent in
      await self.takeTurns(
        of: &cursor, conformingTo: narrowing, as: worker, in: call, startingWith: value, take)
    }
  }

  @inlinable
  nonisolated func takeTurns<Value: Sendable, E>(
    of cursor: inout Cursor, conformingTo narrowing: Narrowing?, as worker: Worker,
    in call: CallKind, startingWith value: Value,
    _ take:
      @escaping @Sendable (SubscriptionNode, Value) async -> Turn<Value, E>?
  ) async -> Result<Value, E> {
    var value = value
    while let claim = cursor.claim() {
      if claim.isLast { _ = cursor.release() }
      let present = value
      let turn: Turn<Value, E>?
      if claim.node.hasExecutor {
        turn = await askElsewhere(claim.node, conformingTo: narrowing, as: worker, in: call) {
          await take($0, present)
        }
      } else {
        turn = await worker.ask(claim.node, in: call, watchedBy: slowWatch, absence: nil) {
          await take($0, present)
        }
      }
      switch turn {
      case .goOn(let changed): value = changed
      case .stop(let result): return result
      case nil: break
      }
    }
    return .success(value)
  }

  /// Asks a subscription on its own executor.
  @usableFromInline
  nonisolated func askElsewhere<Result: Sendable>(
    _ node: SubscriptionNode, conformingTo narrowing: Narrowing?, as worker: Worker,
    in call: CallKind,
    _ ask: @escaping @Sendable (SubscriptionNode) async -> Result?
  ) async -> Result? {
    // The executor of one that has ended or died, or does not conform, may be busy, suspended or gone.
    guard let executor = node.executor, node.isReached(as: narrowing, endingIn: call) else {
      return nil
    }
    let slowWatch = slowWatch
    return await Task.runAttached(on: executor) {
      await worker.ask(node, in: call, watchedBy: slowWatch, absence: nil, ask)
    }
  }
}
