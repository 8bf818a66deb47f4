/// Calls that are made now, where the caller runs.
extension DelegateHub {
  /// Calls every subscriber of a protocol, one after another, where the caller runs.
  ///
  /// When it returns, everybody who was subscribed has been called: of two calls made one after another, everybody has
  /// had the first before anybody has the second. As with `Sequence.forEach`, the closure does not escape, and need
  /// not be `Sendable`: it may use local variables, `inout` parameters and the state of the caller's actor.
  ///
  /// **Order.** By priority, then in order of subscription, or the other way round. It calls those that were
  /// subscribed when it was called, and includes what the same thread has changed before. One whose subscription has
  /// ended, or that has died, before its turn is not called. It overtakes what waits in mailboxes, as questions do.
  ///
  /// **Isolation.** Works from synchronous code, on any thread and actor; all handlers run there. ``Configuration/executor``
  /// is for calls that the hub makes. ``Configuration/interceptors`` do not run, because they are asynchronous.
  ///
  /// **Re-entrancy.** A handler may call everything, `forEach` of the same protocol too.
  ///
  /// **Errors.** The first error ends the call, and is rethrown with its type: the subscribers after that one are not
  /// called. A subscriber with an executor of its own (`on:`) stops the program with a message that says who it is:
  /// the closure cannot leave the caller's thread.
  ///
  /// ```swift
  /// hub.forEach(ConnectionDelegate.self) { $0.connection(self, didReceive: message) }
  /// try hub.forEach(TransactionObserver.self) { observer throws(Veto) in
  ///   try observer.willCommit(&transaction)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to call.
  ///   - isReversed: whether the last one is called first.
  ///   - body: what to do with each subscriber.
  /// - Throws: the first error that the closure threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @_alwaysEmitIntoClient
  public nonisolated func forEach<P, E>(
    _ protocol: P.Type, reversed isReversed: Bool = false, _ body: (P) throws(E) -> Void
  ) throws(E) {
    try callEach(Audience(`protocol`), reversed: isReversed, body)
  }

  /// Calls every subscriber of a protocol, and awaits each one before the next.
  ///
  /// As the synchronous form, for a closure that awaits. The closure runs on the caller's actor.
  ///
  /// **Order** and **Errors.** As in the synchronous form. One that is added while a handler is suspended is not called.
  ///
  /// **Isolation.** Handlers run where the caller runs, in its task, within ``Configuration/interceptors``; an `async`
  /// method of an actor runs on that actor.
  ///
  /// **Re-entrancy.** As with questions: a handler may drain, and cancel its own subscription and wait.
  ///
  /// **Cancellation.** Handlers run in the caller's task, and see that it is cancelled; the call goes on all the same.
  ///
  /// ```swift
  /// await hub.forEach(Service.self, reversed: true) { await $0.shutdown() }
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to call.
  ///   - isReversed: whether the last one is called first.
  ///   - body: what to do with each subscriber.
  /// - Throws: the first error that the closure threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  public nonisolated(nonsending) func forEach<P, E>(
    _ protocol: P.Type, reversed isReversed: Bool = false,
    _ body: nonisolated(nonsending) (P) async throws(E) -> Void
  ) async throws(E) {
    try await callEach(Audience(`protocol`), reversed: isReversed, body)
  }

  @_alwaysEmitIntoClient
  nonisolated func callEach<P, E>(
    _ audience: Audience<P>, reversed isReversed: Bool, _ body: (P) throws(E) -> Void
  ) throws(E) {
    let nodes = snapshot(of: audience.key)
    if nodes.isEmpty { return }
    beginLoop()
    defer { endLoop() }
    for position in nodes.indices {
      let node = nodes[isReversed ? nodes.count - 1 - position : position]
      _ = try node.call(in: audience, for: .forEach) { subscriber throws(E) in
        if node.hasExecutor { node.stopAtExecutor() }
        try body(subscriber)
      }
    }
  }

  nonisolated(nonsending) func callEach<P, E>(
    _ audience: Audience<P>, reversed isReversed: Bool,
    _ body: nonisolated(nonsending) (P) async throws(E) -> Void
  ) async throws(E) {
    // No array of the subscriptions has a name here, so that the last handler does not keep all of them.
    let nodes = snapshot(of: audience.key)
    var cursor = Cursor(isReversed ? nodes.reversed() : consume nodes)
    let worker = beginAsking()
    defer { endAsking(worker) }
    while let claim = cursor.claim() {
      if claim.isLast { _ = cursor.release() }
      try await call(claim.node, in: audience, as: worker, on: #isolation, body).get()
    }
  }

  /// Calls one subscriber in the caller's task.
  private func call<P, E>(
    _ node: SubscriptionNode, in audience: Audience<P>, as worker: Worker,
    on place: isolated (any Actor)?,
    _ body: nonisolated(nonsending) (P) async throws(E) -> Void
  ) async -> Result<Void, E> {
    await worker.ask(
      node, in: .forEach, absence: .success(()), on: place
    ) { node in
      _ = place
      guard let interception = interception else {
        return await node.answer(in: audience, body)
      }
      var result: Result<Void, E>?
      if node.isReached(by: audience.admits, endingIn: .forEach) {
        await interception.run(HandlerCall(.forEach, on: node)) {
          result = await node.answer(in: audience, body)
          return worker.outcome
        }
      }
      if result == nil { node.noteUnasked() }
      return result ?? .success(())
    }
  }
}

extension SubscriptionNode {
  /// Calls the subscriber in the caller's task.
  fileprivate nonisolated(nonsending) func answer<P, E>(
    in audience: Audience<P>, _ body: nonisolated(nonsending) (P) async throws(E) -> Void
  ) async -> Result<Void, E> {
    guard isOpen, let subscriber = subscriber(in: audience, for: .forEach) else {
      noteUnasked()
      return .success(())
    }
    if hasExecutor { stopAtExecutor() }
    do throws(E) {
      try await body(subscriber)
      return .success(())
    } catch {
      noteFailure(error)
      return .failure(error)
    }
  }

  /// Stops the program: a closure that stays with the caller cannot run on the subscription's executor.
  @usableFromInline
  func stopAtExecutor() -> Never {
    fatalError(
      """
      DelegateHub.forEach(_:) on \(topic.name): \(name(with: id)), subscribed at \(site), has an executor of its own \
      (`on:`), and forEach calls where the caller runs. Tell it by `notify`, or subscribe it without `on:`.
      """)
  }
}
