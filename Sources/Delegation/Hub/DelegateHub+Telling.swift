/// Notifications, with and without waiting until they have been handled.
extension DelegateHub {
  /// Calls a synchronous handler on every subscriber of a protocol, without waiting for any.
  ///
  /// When it returns, the notification waits for every subscriber. None of them needs to have
  /// handled it. If nobody is subscribed, nothing is posted or counted.
  ///
  /// The closure runs later, and reads then what it refers to: `{ $0.did(self.current) }` gives what `current` is
  /// when the handler runs. To give what it was when you posted, capture it: `{ [current] in $0.did(current) }`.
  ///
  /// **Order.** Each subscriber handles a protocol's notifications one at a time, in the order of posting.
  /// A notification from a handler comes after the present one. There is no order across subscribers: with 0
  /// and 1 posted, *a* may have had both before *b* has the first, `a0 a1 b0 b1`. Where that matters use
  /// ``forEach(_:reversed:_:)-9lg5v``, which calls `a0 b0 a1 b1`, or one protocol and one subscriber.
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
  /// - Complexity: O(1) in the number of subscribers.
  @_alwaysEmitIntoClient
  public nonisolated func notify<P>(
    _ protocol: P.Type, _ body: @escaping @Sendable (P) throws -> Void
  ) {
    post(in: Audience(`protocol`)) { .calling(body, in: $0) }
  }

  /// Calls an asynchronous handler on every subscriber of a protocol, without waiting for any.
  ///
  /// As the synchronous form. `{ await $0.did(self.current) }` too reads `current` when the handler runs. A
  /// subscriber's next notification begins only when the handler has returned, even if it suspends for long. The
  /// others go on meanwhile.
  ///
  /// **Order.** One at a time for each subscriber, in the order of posting, synchronous ones included; none across
  /// subscribers.
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
  /// - Complexity: O(1) in the number of subscribers.
  @_alwaysEmitIntoClient
  public nonisolated func notify<P: Sendable>(
    _ protocol: P.Type, _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void
  ) {
    post(in: Audience(`protocol`)) { .awaiting(body, in: $0) }
  }

  /// Calls a handler on every subscriber of a protocol on an actor, without waiting for any.
  ///
  /// As the asynchronous form, for a closure or function that says `@MainActor`, or is on another global actor, and
  /// awaits nothing. For a closure that awaits, the compiler takes the asynchronous form, which runs it on its actor
  /// as well. A subscriber that dies, or whose subscription ends, before the actor is free is not called.
  ///
  /// **Order.** One at a time for each subscriber, in the order of posting, all other forms included; none across
  /// subscribers.
  ///
  /// **Isolation.** Works from any thread and from synchronous code. Handlers run on the closure's actor.
  ///
  /// **Errors.** A handler that throws is reported to ``Configuration/onIncident``; the others are not
  /// affected.
  ///
  /// ```swift
  /// hub.notify(DownloadView.self) { @MainActor in $0.progress = progress }
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to call.
  ///   - body: what to do with each subscriber.
  /// - Complexity: O(1) in the number of subscribers.
  @_alwaysEmitIntoClient
  public nonisolated func notify<P: Sendable>(
    _ protocol: P.Type, _ body: @escaping @isolated(any) @Sendable (P) throws -> Void
  ) {
    post(in: Audience(`protocol`)) { .calling(isolated: body, in: $0) }
  }

  /// Calls a handler on every subscriber of a protocol, and waits until all have handled it.
  ///
  /// When it returns before the deadline, every object that was subscribed when it was posted has
  /// handled the notification. It does not wait for a subscriber that dies, is removed, or drops
  /// the notification because its mailbox is full. If the handler of a removed subscriber already
  /// runs, or waits for the main actor or in an interceptor, it waits for that handler. The death of one whose
  /// executor stands still is found at the next call on the protocol.
  ///
  /// **Order.** As with `notify`: it comes after what was posted before and before what is posted later.
  ///
  /// **Isolation.** Handlers run on the hub's executor or the subscription's, on no actor; not in the
  /// caller's task. They have the caller's priority if that is higher than the default, unless a worker
  /// was under way already.
  ///
  /// **Re-entrancy.** Called from a handler of a notification, it does not wait for that
  /// subscriber, which handles nothing else until the handler returns. It does not wait for
  /// subscribers whose handlers wait for it in turn. It returns all of these as left. A `Task` that a handler has
  /// started counts as the handler, which might await it: while the task waits for the hub, the handler is taken for
  /// one that waits.
  ///
  /// **Cancellation.** If the caller's task is cancelled it returns at once with what is left; the
  /// notification goes on, as it does after the deadline.
  ///
  /// **Errors.** A handler that throws is reported to ``Configuration/onIncident`` and counts as done.
  ///
  /// ```swift
  /// let left = await hub.notifyAndWait(ServerDelegate.self, within: .seconds(5)) {
  ///   await $0.serverWillStop(server)
  /// }
  /// if !left.isEmpty { logger.warning("stopping without these: \(left)") }
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to call.
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for as long as it takes. With
  ///     zero or less it does not wait.
  ///   - body: what to do with each subscriber.
  /// - Returns: the subscribers that had not passed the notification when it returned; empty if all had.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, and O(*n* log *n*) if any is left.
  @_alwaysEmitIntoClient
  @discardableResult
  public nonisolated func notifyAndWait<P: Sendable>(
    _ protocol: P.Type, within duration: Duration? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void
  ) async -> Leftovers {
    await postAndWait(in: Audience(`protocol`), within: duration) { .awaiting(body, in: $0) }
  }

  /// Calls a synchronous handler on every subscriber of a protocol, and waits until all have handled it.
  ///
  /// As ``notifyAndWait(_:within:_:)-4l7hx``, for a closure that awaits nothing.
  ///
  /// **Order**, **Isolation**, **Cancellation** and **Errors.** As with ``notifyAndWait(_:within:_:)-4l7hx``.
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to call.
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for as long as it takes. With
  ///     zero or less it does not wait.
  ///   - body: what to do with each subscriber.
  /// - Returns: the subscribers that had not passed the notification when it returned; empty if all had.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, and O(*n* log *n*) if any is left.
  @_alwaysEmitIntoClient
  @discardableResult
  public nonisolated func notifyAndWait<P>(
    _ protocol: P.Type, within duration: Duration? = nil,
    _ body: @escaping @Sendable (P) throws -> Void
  ) async -> Leftovers {
    await postAndWait(in: Audience(`protocol`), within: duration) { .calling(body, in: $0) }
  }

  /// Calls a handler on every subscriber of a protocol on an actor, and waits until all have handled it.
  ///
  /// As ``notifyAndWait(_:within:_:)-4l7hx``, for a closure or function that says `@MainActor`, or is on another global
  /// actor, and awaits nothing. A subscriber that dies, or whose subscription ends, before the actor is free is not
  /// called.
  ///
  /// **Isolation.** Handlers run on the closure's actor.
  ///
  /// **Order**, **Cancellation** and **Errors.** As with ``notifyAndWait(_:within:_:)-4l7hx``.
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to call.
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for as long as it takes. With
  ///     zero or less it does not wait.
  ///   - body: what to do with each subscriber.
  /// - Returns: the subscribers that had not passed the notification when it returned; empty if all had.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, and O(*n* log *n*) if any is left.
  @_alwaysEmitIntoClient
  @discardableResult
  public nonisolated func notifyAndWait<P: Sendable>(
    _ protocol: P.Type, within duration: Duration? = nil,
    _ body: @escaping @isolated(any) @Sendable (P) throws -> Void
  ) async -> Leftovers {
    await postAndWait(in: Audience(`protocol`), within: duration) { .calling(isolated: body, in: $0) }
  }

  /// Posts a notification; its handler is made only if somebody may be subscribed.
  @_alwaysEmitIntoClient
  @inline(__always)
  nonisolated func post<P>(
    in audience: Audience<P>, _ handler: (Audience<P>) -> Notification.Handler
  ) {
    guard let topic = heardTopic(of: audience.key) else { return }
    post(handler(audience), to: topic)
  }

  @usableFromInline
  nonisolated(nonsending) func postAndWait<P>(
    in audience: Audience<P>, within duration: Duration?,
    _ handler: (Audience<P>) -> Notification.Handler
  ) async -> Leftovers {
    let deadline = deadline(within: duration)
    let receipt = Receipt()
    guard let topic = heardTopic(of: audience.key) else { return Leftovers(subscribers: []) }
    post(handler(audience), to: topic, receipt: receipt)
    let isPassed = await WaitGoal.passing(of: receipt).wait(until: deadline)
    if isPassed || receipt.outstanding.value == 0 { return Leftovers(subscribers: []) }
    return Leftovers(
      subscribers: topic.overview().nodes.filter { $0.hasPending(receipt) }
        .compactMap { Leftovers.Subscriber($0) })
  }

  @usableFromInline
  nonisolated func post(
    _ handler: Notification.Handler, to topic: Topic, receipt: Receipt? = nil
  ) {
    var content = Notification.Content(handler: handler, receipt: receipt)
    if isWrapping {
      let call: CallKind = receipt == nil ? .notify : .notifyAndWait
      if let interception {
        content.handler = handler.intercepted(by: interception, in: call)
      }
      content.context = configuration.propagating.map { $0.capture() }
    }
    guard topic.post(content) else { return }
    // Not lower than the default: others may wait for the same lane.
    startLane(of: topic, priority: receipt == nil ? nil : max(Task.currentPriority, .medium))
  }
}

extension Notification.Handler {
  /// Calls a closure that awaits nothing.
  @inlinable
  static func calling<P>(
    _ body: @escaping @Sendable (P) throws -> Void, in audience: Audience<P>
  ) -> Self {
    .synchronous { reference in
      guard let subscriber = audience.load(reference) else {
        return audience.absence(of: reference)
      }
      try body(subscriber)
      return .handled
    }
  }

  /// Calls a closure that awaits something.
  @inlinable
  static func awaiting<P>(
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void,
    in audience: Audience<P>
  ) -> Self {
    .asynchronous { reference in
      guard let subscriber = audience.load(reference) else {
        return audience.absence(of: reference)
      }
      try await body(subscriber)
      return .handled
    }
  }

  /// Calls a closure on its actor, if it belongs to one: a subscription that ends, or a subscriber that dies, before the
  /// actor is free is not called.
  @usableFromInline
  static func calling<P>(
    isolated body: @escaping @isolated(any) @Sendable (P) throws -> Void, in audience: Audience<P>
  ) -> Self {
    let plain = unisolated(body)
    guard let place = body.isolation else { return calling(plain, in: audience) }
    return .asynchronous { reference in try await call(plain, on: reference, in: audience, at: place) }
  }

  private static func call<P>(
    _ body: @Sendable (P) throws -> Void, on reference: borrowing WeakReference,
    in audience: Audience<P>, at place: isolated any Actor
  ) throws -> Notification.Delivery {
    guard HandlerContext.mayGoOn else { return .expired }
    guard let subscriber = audience.load(reference) else { return audience.absence(of: reference) }
    try body(subscriber)
    return .handled
  }
}
