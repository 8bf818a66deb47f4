/// `forEach`, which calls handlers at once, where the caller runs.
extension Delegates {
  /// Calls every subscriber, one after another, where the caller runs.
  ///
  /// When it returns, all who were subscribed have been called. As with `Sequence.forEach`, the closure does not
  /// escape, and need not be `Sendable`: it may use local variables, `inout` parameters and the state of the caller's
  /// actor.
  ///
  /// **Order.** By priority, then in order of subscription, or reversed. It calls those that were subscribed when it
  /// was called, and sees what the same thread has changed before. A subscriber whose subscription has ended, or that
  /// has died, before its turn is not called; if the subscription was replaced, the new one's subscriber is. The call
  /// overtakes what waits in mailboxes, as questions do.
  ///
  /// **Isolation.** Works from synchronous code, on any thread and actor; all handlers run there.
  /// ``DelegateHub/Configuration/executor``, interceptors and ``DelegateHub/Configuration/slowAfter`` do not apply.
  ///
  /// **Re-entrancy.** A handler may call everything, `forEach` of the same protocol too.
  ///
  /// **Errors.** The first error ends the call, and is rethrown with its type. A subscriber with an executor of its own
  /// (`on:`) stops the program with a message that names it: the closure cannot leave the caller's thread.
  ///
  /// ```swift
  /// hub[ConnectionDelegate.self].forEach { $0.connection(self, didReceive: message) }
  /// try hub[TransactionObserver.self].forEach { observer throws(Veto) in
  ///   try observer.willCommit(&transaction)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - isReversed: whether the last subscriber is called first.
  ///   - body: what to do with each subscriber.
  /// - Throws: the first error that the closure threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @_alwaysEmitIntoClient
  public func forEach<E>(
    reversed isReversed: Bool = false, _ body: (P) throws(E) -> Void
  ) throws(E) {
    let nodes = hub.snapshot(of: recipients.base)
    if nodes.isEmpty { return }
    hub.core.countWorker()
    defer { hub.core.uncountWorker() }
    for position in nodes.indices {
      let node = nodes[isReversed ? nodes.count - 1 - position : position]
      if try node.callForEach(in: recipients, body) == nil {
        try node.callReplacement(in: recipients, body)
      }
    }
  }

  /// Calls every subscriber, and awaits each one before the next.
  ///
  /// As the synchronous form, for a closure that awaits. The closure runs on the caller's actor, and on the executor
  /// that the caller's task prefers, within ``DelegateHub/Configuration/interceptors``; an `async` method of an actor
  /// runs on that actor. A subscriber that is added while a handler is suspended is not called. A subscriber with an
  /// executor of its own (`on:`) stops the program here too.
  ///
  /// **Re-entrancy.** A handler may call `drain`, and its own subscription's `cancelAndWait`.
  ///
  /// **Cancellation.** Handlers run in the caller's task, and see that it is cancelled; the call goes on all the same.
  ///
  /// - Parameters:
  ///   - isReversed: whether the last subscriber is called first.
  ///   - body: what to do with each subscriber.
  /// - Throws: the first error that the closure threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  public nonisolated(nonsending) func forEach<E>(
    reversed isReversed: Bool = false, _ body: nonisolated(nonsending) (P) async throws(E) -> Void
  ) async throws(E) {
    // The array of subscriptions is consumed, so that it does not keep all of them alive during the last handler.
    let nodes = hub.snapshot(of: recipients.base)
    var work = WorkQueue(isReversed ? nodes.reversed() : consume nodes)
    let worker = hub.beginAsking()
    defer { hub.endAsking(worker) }
    while let claim = work.claim() {
      if claim.isLast { _ = work.release() }
      try await call(claim.node, as: worker, on: #isolation, body).get()
    }
  }

  /// Calls the subscriber of a subscription or its replacement, within interceptors, in the caller's task.
  private func call<E>(
    _ node: SubscriptionNode, as worker: Worker, on actor: isolated (any Actor)?,
    _ body: nonisolated(nonsending) (P) async throws(E) -> Void
  ) async -> Result<Void, E> {
    await worker.ask(node, in: .forEach, absence: .success(()), on: actor) { node in
      _ = actor
      guard let interception = hub.core.interception else {
        return await node.answer(in: recipients, body)
      }
      var result: Result<Void, E>?
      if node.isReached(by: recipients.admits, endingIn: .forEach) {
        await interception.run(DelegateHub.HandlerCall(.forEach, on: node)) {
          result = await node.answer(in: recipients, body)
          return worker.outcome
        }
      }
      if result == nil { HandlerContext.note(.unasked) }
      return result ?? .success(())
    }
  }
}

extension SubscriptionNode {
  /// Calls the subscriber in the caller's task; if it is gone or does not conform, notes that it was not asked.
  fileprivate nonisolated(nonsending) func answer<P, E>(
    in recipients: Recipients<P>, _ body: nonisolated(nonsending) (P) async throws(E) -> Void
  ) async -> Result<Void, E> {
    guard isOpen, let subscriber = subscriber(in: recipients, for: .forEach) else {
      HandlerContext.note(.unasked)
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

  /// Calls the subscriber on the current thread.
  ///
  /// - Returns: `nil` if the subscriber was not called.
  @_alwaysEmitIntoClient
  @inline(__always)
  func callForEach<P, E>(
    in recipients: Recipients<P>, _ body: (P) throws(E) -> Void
  ) throws(E) -> Void? {
    try call(in: recipients, for: .forEach) { subscriber throws(E) in
      if hasExecutor { stopAtExecutor() }
      try body(subscriber)
    }
  }

  /// Calls the subscription's replacement, if it has one, because the subscription itself has ended uncalled.
  @_alwaysEmitIntoClient
  @inline(never)
  func callReplacement<P, E>(
    in recipients: Recipients<P>, _ body: (P) throws(E) -> Void
  ) throws(E) {
    var next = replacement
    while let replacement = next {
      let answer: Void? = try replacement.callForEach(in: recipients, body)
      next = answer == nil ? replacement.replacement : nil
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
