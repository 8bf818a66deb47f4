/// Calls that are made now, where the caller runs.
extension Delegates {
  /// Calls every subscriber, one after another, where the caller runs.
  ///
  /// When it returns, everybody who was subscribed has been called: of two calls made one after another, everybody has
  /// had the first before anybody has the second. As with `Sequence.forEach`, the closure does not escape, and need
  /// not be `Sendable`: it may use local variables, `inout` parameters and the state of the caller's actor.
  ///
  /// **Order.** By priority, then in order of subscription, or the other way round. It calls those that were
  /// subscribed when it was called, and includes what the same thread has changed before. One whose subscription has
  /// ended, or that has died, before its turn is not called; if another object has taken its `id:`, that one is. It
  /// overtakes what waits in mailboxes, as questions do.
  ///
  /// **Isolation.** Works from synchronous code, on any thread and actor; all handlers run there.
  /// ``DelegateHub/Configuration/executor`` is for calls that the hub makes, and interceptors and
  /// ``DelegateHub/Configuration/slowAfter`` for what may suspend.
  ///
  /// **Re-entrancy.** A handler may call everything, `forEach` of the same protocol too.
  ///
  /// **Errors.** The first error ends the call, and is rethrown with its type: the subscribers after that one are not
  /// called. A subscriber with an executor of its own (`on:`) stops the program with a message that says who it is:
  /// the closure cannot leave the caller's thread.
  ///
  /// ```swift
  /// hub[ConnectionDelegate.self].forEach { $0.connection(self, didReceive: message) }
  /// try hub[TransactionObserver.self].forEach { observer throws(Veto) in
  ///   try observer.willCommit(&transaction)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - isReversed: whether the last one is called first.
  ///   - body: what to do with each subscriber.
  /// - Throws: the first error that the closure threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @_alwaysEmitIntoClient
  public func forEach<E>(
    reversed isReversed: Bool = false, _ body: (P) throws(E) -> Void
  ) throws(E) {
    try hub.callEach(recipients, reversed: isReversed, body)
  }

  /// Calls every subscriber, and awaits each one before the next.
  ///
  /// As the synchronous form, for a closure that awaits. The closure runs on the caller's actor, and on the executor that
  /// the caller's task prefers, within ``DelegateHub/Configuration/interceptors``; an `async` method of an actor runs on
  /// that actor. One that is added while a handler is suspended is not called.
  ///
  /// **Re-entrancy.** A handler may drain, and cancel its own subscription and wait.
  ///
  /// **Cancellation.** Handlers run in the caller's task, and see that it is cancelled; the call goes on all the same.
  ///
  /// - Parameters:
  ///   - isReversed: whether the last one is called first.
  ///   - body: what to do with each subscriber.
  /// - Throws: the first error that the closure threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  public nonisolated(nonsending) func forEach<E>(
    reversed isReversed: Bool = false, _ body: nonisolated(nonsending) (P) async throws(E) -> Void
  ) async throws(E) {
    try await hub.callEach(recipients, reversed: isReversed, body)
  }
}

/// Notifications, with and without waiting until they have been handled.
extension Delegates {
  /// Calls a synchronous handler on every subscriber, without waiting for any.
  ///
  /// When it returns, the notification waits for every subscriber. None of them needs to have handled it. If nobody is
  /// subscribed, nothing is posted or counted.
  ///
  /// The closure runs later, and reads then what it refers to: `{ $0.did(self.current) }` gives what `current` is
  /// when the handler runs. To give what it was when you posted, capture it: `{ [current] in $0.did(current) }`.
  ///
  /// **Order.** Each subscriber handles a protocol's notifications one at a time, in the order of posting, those of
  /// all three forms. A notification from a handler comes after the present one. There is no order across subscribers:
  /// with 0 and 1 posted, *a* may have had both before *b* has the first, `a0 a1 b0 b1`. Where that matters use
  /// `forEach`, which calls `a0 b0 a1 b1`, or one protocol and one subscriber.
  ///
  /// **Isolation.** Works from any thread and from synchronous code. Handlers run on the hub's executor or the
  /// subscription's, on no actor.
  ///
  /// **Errors.** A handler that throws is reported to ``DelegateHub/Configuration/onIncident``; the others are not
  /// affected.
  ///
  /// - Parameter body: what to do with each subscriber.
  /// - Complexity: O(1) in the number of subscribers.
  @_alwaysEmitIntoClient
  public func notify(_ body: @escaping @Sendable (P) throws -> Void) {
    hub.post(in: recipients) { .calling(body, in: $0) }
  }

  /// Calls an asynchronous handler on every subscriber, without waiting for any.
  ///
  /// As the synchronous form. A subscriber's next notification begins only when the handler has returned, even if it
  /// suspends for long. The others go on meanwhile. An `async` method of an actor runs on that actor, and a closure that
  /// belongs to an actor, as one that says `@MainActor`, runs there; one that awaits may be entered there after its
  /// subscription has ended.
  ///
  /// - Parameter body: what to do with each subscriber.
  /// - Complexity: O(1) in the number of subscribers.
  @_alwaysEmitIntoClient
  public func notify(
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void
  ) {
    hub.post(in: recipients) { .awaiting(body, in: $0) }
  }

  /// Calls a handler on every subscriber, and waits until all have handled it.
  ///
  /// When it returns before the deadline, nobody who was subscribed when it was posted has it before them any more, and
  /// the outcome says how many have handled it. It does not wait for a subscriber that dies, is removed, or drops the
  /// notification because its mailbox is full. If the handler of a removed subscriber already runs, or waits for the main
  /// actor or in an interceptor, it waits for that handler. The death of one whose executor stands still is found at the
  /// next call on the protocol.
  ///
  /// **A window.** It posts at once, and returns when everybody has passed the notification that was posted `leaving`
  /// such calls before this one, by any poster; with 0, its own. So with *p* posters at most `leaving + p` of theirs wait
  /// anywhere, and a slow subscriber slows the posters down. With a window it does not wait for the handler of one whose
  /// subscription has ended, which may hang. The outcome is that of its own notification so far.
  ///
  /// **Order.** As with `notify`: it comes after what was posted before and before what is posted later.
  ///
  /// **Isolation.** Handlers run as those of `notify`, and not in the caller's task. They have the priority that the
  /// caller had when it called, if that is higher than the default, unless a worker was under way already.
  ///
  /// **Re-entrancy.** Called from a handler of a notification, it does not wait for that subscriber, which handles
  /// nothing else until the handler returns, nor for subscribers whose handlers wait for it in turn; these are `left`.
  /// A `Task` that a handler has started counts as the handler, which might await it.
  ///
  /// **Cancellation.** If the caller's task is cancelled it returns at once with what is left; the notification goes on,
  /// as it does after the deadline.
  ///
  /// **Errors.** A handler that throws is reported to ``DelegateHub/Configuration/onIncident``, and counted as failed.
  ///
  /// ```swift
  /// let outcome = await hub[ServerDelegate.self].notifyAndWait(within: .seconds(5)) {
  ///   await $0.serverWillStop(server)
  /// }
  /// if !outcome.isHandled { logger.warning("stopping all the same: \(outcome)") }
  /// ```
  ///
  /// - Parameters:
  ///   - window: how many such notifications, of those posted last, need not have been handled; 0 by default.
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for as long as it takes. With zero or less it
  ///     does not wait.
  ///   - body: what to do with each subscriber.
  /// - Returns: what has become of it.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, and O(*n* log *n*) if any is left.
  @_alwaysEmitIntoClient
  @discardableResult
  public func notifyAndWait(
    leaving window: Int = 0, within duration: Duration? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void
  ) async -> DelegateHub.Outcome {
    await hub.postAndWait(in: recipients, leaving: window, within: duration) {
      .awaiting(body, in: $0)
    }
  }

  /// Calls a synchronous handler on every subscriber, and waits until all have handled it.
  ///
  /// As the asynchronous form, for a closure that awaits nothing.
  ///
  /// - Parameters:
  ///   - window: how many such notifications, of those posted last, need not have been handled.
  ///   - duration: how long to wait at most, by the hub's clock.
  ///   - body: what to do with each subscriber.
  /// - Returns: what has become of it.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, and O(*n* log *n*) if any is left.
  @_alwaysEmitIntoClient
  @discardableResult
  public func notifyAndWait(
    leaving window: Int = 0, within duration: Duration? = nil,
    _ body: @escaping @Sendable (P) throws -> Void
  ) async -> DelegateHub.Outcome {
    await hub.postAndWait(in: recipients, leaving: window, within: duration) {
      .calling(body, in: $0)
    }
  }
}

/// The same on an actor.
extension Delegates where P: Sendable {
  /// Calls a handler on every subscriber on an actor, without waiting for any.
  ///
  /// For a closure or function that says `@MainActor`, or is on another global actor, and awaits nothing. A subscriber
  /// that dies, or whose subscription ends, before the actor is free is not called. For a closure that awaits, the
  /// compiler takes the asynchronous form.
  ///
  /// ```swift
  /// hub[DownloadView.self].notify { @MainActor in $0.progress = progress }
  /// ```
  ///
  /// - Parameter body: what to do with each subscriber.
  /// - Complexity: O(1) in the number of subscribers.
  @_alwaysEmitIntoClient
  public func notify(_ body: @escaping @isolated(any) @Sendable (P) throws -> Void) {
    hub.post(in: recipients) { .calling(isolated: body, in: $0) }
  }

  /// Calls a handler on every subscriber on an actor, and waits until all have handled it.
  ///
  /// As the asynchronous form, for a closure or function that belongs to an actor and awaits nothing. A subscriber that
  /// dies, or whose subscription ends, before the actor is free is not called.
  ///
  /// - Parameters:
  ///   - window: how many such notifications, of those posted last, need not have been handled.
  ///   - duration: how long to wait at most, by the hub's clock.
  ///   - body: what to do with each subscriber.
  /// - Returns: what has become of it.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, and O(*n* log *n*) if any is left.
  @_alwaysEmitIntoClient
  @discardableResult
  public func notifyAndWait(
    leaving window: Int = 0, within duration: Duration? = nil,
    _ body: @escaping @isolated(any) @Sendable (P) throws -> Void
  ) async -> DelegateHub.Outcome {
    await hub.postAndWait(in: recipients, leaving: window, within: duration) {
      .calling(isolated: body, in: $0)
    }
  }
}
