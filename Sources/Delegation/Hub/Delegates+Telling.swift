/// Notifications, with and without waiting until they have been handled.
extension Delegates {
  /// Calls a synchronous handler on every subscriber, without waiting for any.
  ///
  /// When it returns, the notification waits for every subscriber. If nobody is subscribed, nothing is posted or
  /// counted, unless notifications are kept for a replay.
  ///
  /// The closure runs later, and then reads what it refers to: `{ $0.did(self.current) }` gives what `current` is when
  /// the handler runs. To give what it was when you posted, capture it: `{ [current] in $0.did(current) }`.
  ///
  /// **Order.** Each subscriber handles a protocol's notifications, also of `notifyAndWait`, one at a time, in the
  /// order of posting. A notification that a handler posts comes after the one that it handles. There is no order
  /// across subscribers: with 0 and 1 posted, subscribers *a* and *b* may be called `a0 a1 b0 b1`. Where that matters
  /// use `forEach`, which calls `a0 b0 a1 b1`, or one protocol and one subscriber.
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
  /// suspends for long. Other subscribers go on meanwhile. An `async` method of an actor runs on that actor, and a
  /// closure of an actor (`@MainActor`) runs there. A closure that awaits may be entered there after the subscription
  /// has ended.
  ///
  /// - Parameter body: what to do with each subscriber.
  /// - Complexity: O(1) in the number of subscribers.
  @_alwaysEmitIntoClient
  public func notify(_ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void) {
    hub.post(in: recipients) { .awaiting(body, in: $0) }
  }

  /// Calls a handler on every subscriber, and waits until all have handled the notification.
  ///
  /// When it returns before the deadline, every subscriber at the time of posting has finished with the notification.
  /// It does not wait for a subscriber that dies, is removed, or drops the notification because its mailbox is full. If
  /// the handler of a removed subscriber already runs, or waits for the main actor or in an interceptor, the call waits
  /// for that handler. The death of a subscriber whose executor is blocked or suspended is found at the next call on
  /// the protocol.
  ///
  /// **A window.** With `leaving: n`, the call posts at once, and returns when all subscribers have finished with the
  /// notification of the *n*th `notifyAndWait` before it on the protocol, by any poster; with 0, of the call's own. So
  /// with *p* posters at most *n* + *p* of their notifications wait anywhere, and a slow subscriber slows the posters
  /// down. With a window, the call does not wait for a handler whose subscription has ended, which may hang. The
  /// outcome is that of the call's own notification so far.
  ///
  /// **Order.** As with `notify`.
  ///
  /// **Isolation.** Handlers run as those of `notify`, not in the caller's task, though maybe on its thread until one
  /// suspends. They have the priority that the caller had when it called, if that is higher than the default, unless
  /// the hub was delivering already.
  ///
  /// **Re-entrancy.** Called from a handler of a notification, it does not wait for that subscriber, which handles
  /// nothing else until the handler returns, nor for subscribers whose handlers wait themselves; the outcome names
  /// these as `left`. A `Task` that a handler has started counts as the handler, which might await it.
  ///
  /// **Cancellation.** If the caller's task is cancelled it returns at once with what is left; the notification goes
  /// on, as it does after the deadline. Without a window, a deadline and an executor of the hub, a handler may run on
  /// the caller's thread: then the call notices the cancellation once the handler suspends.
  ///
  /// **Errors.** As with `notify`; a handler that throws is counted as failed.
  ///
  /// ```swift
  /// let outcome = await hub[ServerDelegate.self].notifyAndWait(within: .seconds(5)) {
  ///   await $0.serverWillStop(server)
  /// }
  /// if !outcome.isHandled { logger.warning("stopping all the same: \(outcome)") }
  /// ```
  ///
  /// - Parameters:
  ///   - window: how many of the latest `notifyAndWait` notifications need not have been handled.
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for no limit. With zero or less it
  ///     does not wait.
  ///   - body: what to do with each subscriber.
  /// - Returns: what has become of the notification.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, and O(*n* log *n*) if any is left; in a handler also in
  ///   the number of the hub's handlers that wait.
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

  /// Calls a synchronous handler on every subscriber, and waits until all have handled the notification.
  ///
  /// As the asynchronous form.
  ///
  /// - Parameters:
  ///   - window: as in the asynchronous form.
  ///   - duration: how long to wait at most.
  ///   - body: what to do with each subscriber.
  /// - Returns: what has become of the notification.
  /// - Complexity: as the asynchronous form.
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

/// Notifications that are handled on an actor.
extension Delegates where P: Sendable {
  /// Calls a handler on an actor for every subscriber, without waiting for any.
  ///
  /// For a closure or function that says `@MainActor`, or is on another global actor, and awaits nothing. A subscriber
  /// that dies, or whose subscription ends, before the actor is free is not called.
  ///
  /// **Order** and **Errors.** As with a closure of no actor.
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

  /// Calls a handler on an actor for every subscriber, and waits until all have handled the notification.
  ///
  /// As the asynchronous form, for a closure on an actor that awaits nothing. A subscriber that dies, or whose
  /// subscription ends, before the actor is free is not called.
  ///
  /// - Parameters:
  ///   - window: as in the asynchronous form.
  ///   - duration: how long to wait at most.
  ///   - body: what to do with each subscriber.
  /// - Returns: what has become of the notification.
  /// - Complexity: as the asynchronous form.
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

/// How notifications are posted, and how a closure becomes their handler.
extension DelegateHub {
  /// Posts a notification; makes its handler only if somebody is subscribed, or posts are kept for a replay.
  @_alwaysEmitIntoClient
  @inline(__always)
  nonisolated func post<P>(
    in recipients: Recipients<P>, _ handler: (Recipients<P>) -> Notification.Handler
  ) {
    guard let topic = audience(of: recipients.base) else { return }
    post(handler(recipients), to: topic)
  }

  /// Posts a notification, and waits as `notifyAndWait` says; on no actor, so that no handler begins on the caller's.
  @usableFromInline
  nonisolated func postAndWait<P>(
    in recipients: Recipients<P>, leaving window: Int, within duration: Duration?,
    _ handler: (Recipients<P>) -> Notification.Handler
  ) async -> Outcome {
    let deadline = deadline(within: duration)
    let receipt = Receipt(admitting: recipients.admits)
    guard let topic = audience(of: recipients.base) else { return Outcome(receipt) }
    let mayUseThread =
      duration == nil && window <= 0 && !Task.isCancelled
      && withUnsafeCurrentTask { $0?.unownedTaskExecutor == nil }
    let caller = mayUseThread ? Caller.present : nil
    post(
      handler(recipients), to: topic, receipt: receipt,
      onThreadOf: caller?.isShallow == true ? caller : nil)
    defer {
      withExtendedLifetime(topic.state.withLock { $0.receipts.noteReturn() }) {}
    }
    guard let awaited = topic.receipt(window, before: receipt), !awaited.isPassed else {
      return Outcome(receipt)
    }
    let goal = WaitGoal.passing(of: awaited, in: topic, exceptEnded: window > 0)
    if await goal.wait(until: deadline) || awaited.isPassed { return Outcome(receipt) }
    return Outcome(
      receipt,
      left: topic.overview().nodes.filter { $0.hasPending(awaited) }
        .compactMap { Leftovers.Subscriber(leftOf: $0) }, of: awaited)
  }

  @usableFromInline
  nonisolated func post(
    _ handler: Notification.Handler, to topic: Topic, receipt: Receipt? = nil,
    onThreadOf caller: Caller? = nil
  ) {
    let content = Notification.Content(
      handler: core.wraps
        ? wrapped(handler, in: receipt == nil ? .notify : .notifyAndWait) : handler,
      receipt: receipt)
    guard topic.post(content, for: core) else { return }
    // The caller's priority if it waits, but at least the default: other callers may wait for this delivery.
    core.startDelivery(
      of: topic, priority: receipt == nil ? nil : max(Task.currentPriority, .medium),
      onThreadOf: caller)
  }
}

extension DelegateHub {
  /// Wraps a handler in the hub's interceptors, and these in the poster's task-locals.
  private nonisolated func wrapped(
    _ handler: Notification.Handler, in call: CallKind
  ) -> Notification.Handler {
    let handler = core.interception.map { handler.intercepted(by: $0, in: call) } ?? handler
    if core.propagating.isEmpty { return handler }
    return .bound(handler, in: core.propagating.map { $0.capture() })
  }
}

extension Notification.Handler {
  /// The handler that calls a closure that awaits nothing.
  @inlinable
  static func calling<P>(
    _ body: @escaping @Sendable (P) throws -> Void, in recipients: Recipients<P>
  ) -> Self {
    // If all subscribers are meant, the closure does not capture `recipients`: each notification would store them.
    if recipients.admits == nil {
      return .synchronous { reference in
        guard let subscriber = reference.load(as: P.self) else { return .expired }
        try body(subscriber)
        return .handled
      }
    }
    return .synchronous { try recipients.tell($0, body) }
  }

  /// The handler that calls a closure that awaits something.
  @inlinable
  static func awaiting<P>(
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void,
    in recipients: Recipients<P>
  ) -> Self {
    if recipients.admits == nil {
      return .asynchronous { reference in
        guard let subscriber = reference.load(as: P.self) else { return .expired }
        try await body(subscriber)
        return .handled
      }
    }
    return .asynchronous { reference in
      guard let subscriber = recipients.load(reference) else {
        return recipients.absence(of: reference)
      }
      try await body(subscriber)
      return .handled
    }
  }

  /// The handler that calls a closure on its actor, if it has one, unless the subscription ends or the subscriber dies
  /// before.
  @usableFromInline
  static func calling<P>(
    isolated body: @escaping @isolated(any) @Sendable (P) throws -> Void,
    in recipients: Recipients<P>
  ) -> Self {
    let plain = unisolated(body)
    guard let actor = body.isolation else { return calling(plain, in: recipients) }
    return .asynchronous { reference in
      try await call(plain, of: reference, in: recipients, on: actor)
    }
  }

  private static func call<P>(
    _ body: @Sendable (P) throws -> Void, of reference: borrowing WeakReference,
    in recipients: Recipients<P>, on actor: isolated any Actor
  ) throws -> Notification.Fate {
    // The subscription may have ended while the actor was busy.
    let mayGoOn = HandlerContext.current?.node?.mayHandle ?? true
    return mayGoOn ? try recipients.tell(reference, body) : .expired
  }
}
