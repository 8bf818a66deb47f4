extension DelegateHub {
  /// Calls a synchronous handler on every subscriber of a protocol, without waiting for any.
  ///
  /// When it returns, the notification is in the queue of every subscriber; none need have handled it.
  ///
  /// **Order.** Each subscriber handles a protocol's notifications one at a time, all in the same order,
  /// which agrees with each poster's own. One that is posted from a handler comes after the present one.
  ///
  /// **Isolation.** Works from any thread and from synchronous code. Handlers run on the hub's executor
  /// or the subscription's, on no actor.
  ///
  /// **Errors.** A handler that throws is reported to ``Configuration/onIncident``; the others are not
  /// affected.
  ///
  /// ```swift
  /// hub.notify(WorkerDelegate.self) { $0.worker(worker, didPerform: subtask) }
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to call.
  ///   - body: what to do with each subscriber.
  /// - Complexity: O(1), whatever the number of subscribers.
  @inlinable
  public nonisolated func notify<P>(
    _ protocol: P.Type, _ body: @escaping @Sendable (P) throws -> Void
  ) {
    guard inbox.mayReach(ObjectIdentifier(`protocol`)) else { return }
    let handler = Notification.Handler.synchronous { reference in
      guard let subscriber = reference.load(as: P.self) else { return false }
      try body(subscriber)
      return true
    }
    post(handler, to: ObjectIdentifier(`protocol`))
  }

  /// Calls an asynchronous handler on every subscriber of a protocol, without waiting for any.
  ///
  /// As the synchronous form; a subscriber's next notification begins when the handler has returned,
  /// however long it suspends, and the other subscribers go on meanwhile.
  ///
  /// **Order.** One at a time for each subscriber, in the order of posting, synchronous ones included.
  ///
  /// **Isolation.** Works from any thread and from synchronous code. Handlers run on the hub's executor
  /// or the subscription's; an `async` method of an actor runs on that actor.
  ///
  /// **Errors.** A handler that throws is reported to ``Configuration/onIncident``; the others are not
  /// affected.
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to call.
  ///   - body: what to do with each subscriber.
  /// - Complexity: O(1), whatever the number of subscribers.
  @inlinable
  public nonisolated func notify<P>(
    _ protocol: P.Type, _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void
  ) {
    guard inbox.mayReach(ObjectIdentifier(`protocol`)) else { return }
    post(asynchronous(body), to: ObjectIdentifier(`protocol`))
  }

  /// Calls a handler on every subscriber of a protocol, and waits until all have handled it.
  ///
  /// When it returns, everybody has handled the notification who was subscribed when it was posted.
  /// Who dies or is removed meanwhile, and who drops it because the mailbox is full, does not hold it up.
  ///
  /// **Order.** As with `notify`: it comes after what was posted before and before what is posted later.
  ///
  /// **Isolation.** Handlers run on the hub's executor or the subscription's, on no actor; not in the
  /// caller's task.
  ///
  /// **Re-entrancy.** Called from a handler of a notification, it does not wait for that subscriber,
  /// whose queue stands still until the handler returns, nor for subscribers whose handlers in turn
  /// wait for it.
  ///
  /// **Cancellation.** If the caller's task is cancelled it returns at once; the notification goes on.
  ///
  /// **Errors.** A handler that throws is reported to ``Configuration/onIncident`` and counts as done.
  ///
  /// ```swift
  /// await hub.notifyAndWait(ServerDelegate.self) { await $0.serverWillStop(server) }
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to call.
  ///   - body: what to do with each subscriber.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  public nonisolated func notifyAndWait<P>(
    _ protocol: P.Type, _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void
  ) async {
    await postAndWait(asynchronous(body), to: ObjectIdentifier(`protocol`))
  }

  @inlinable
  nonisolated func asynchronous<P>(
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void
  ) -> Notification.Handler {
    .asynchronous { reference in
      guard let subscriber = reference.load(as: P.self) else { return false }
      try await body(subscriber)
      return true
    }
  }

  @usableFromInline
  nonisolated(nonsending) func postAndWait(
    _ handler: Notification.Handler, to key: ObjectIdentifier
  ) async {
    let receipt = Receipt()
    post(handler, to: key, receipt: receipt)
    _ = await WaitGoal.passing(of: receipt).wait(until: nil)
  }

  @usableFromInline
  nonisolated func post(_ handler: Notification.Handler, to key: ObjectIdentifier) {
    post(handler, to: key, receipt: nil)
  }

  private nonisolated func post(
    _ handler: Notification.Handler, to key: ObjectIdentifier, receipt: Receipt?
  ) {
    var content = Notification.Content(handler: handler, receipt: receipt)
    if !configuration.propagating.isEmpty {
      content.handler = handler.binding(configuration.propagating.map { $0.capture() })
    }
    inbox.post(content, to: key)
    // Until then: whoever finds a wake to be sent has to have the hub to send it for.
    withExtendedLifetime(self) {}
  }
}
