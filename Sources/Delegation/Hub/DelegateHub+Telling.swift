/// How notifications are posted: what ``Delegates`` shares, and how a closure becomes their handler.
extension DelegateHub {
  /// Posts a notification; its handler is made only if somebody may be subscribed.
  @_alwaysEmitIntoClient
  @inline(__always)
  nonisolated func post<P>(
    in recipients: Recipients<P>, _ handler: (Recipients<P>) -> Notification.Handler
  ) {
    guard let topic = heardTopic(of: recipients.key) else { return }
    post(handler(recipients), to: topic)
  }

  @usableFromInline
  nonisolated(nonsending) func postAndWait<P>(
    in recipients: Recipients<P>, leaving window: Int, within duration: Duration?,
    _ handler: (Recipients<P>) -> Notification.Handler
  ) async -> Outcome {
    let deadline = deadline(within: duration)
    let receipt = Receipt(admitting: recipients.admits)
    guard let topic = heardTopic(of: recipients.key) else { return Outcome(receipt) }
    post(handler(recipients), to: topic, receipt: receipt)
    defer {
      let former = topic.state.withLock { $0.receipts.noteReturn() }
      withExtendedLifetime(former) {}
    }
    guard let awaited = topic.receipt(window, before: receipt) else { return Outcome(receipt) }
    let goal = WaitGoal.passing(of: awaited, in: topic, exceptEnded: window > 0)
    if await goal.wait(until: deadline) || awaited.isPassed { return Outcome(receipt) }
    return Outcome(
      receipt,
      left: topic.overview().nodes.filter { $0.hasPending(awaited) }
        .compactMap { Leftovers.Subscriber(leftOf: $0) }, of: awaited)
  }

  @usableFromInline
  nonisolated func post(
    _ handler: Notification.Handler, to topic: Topic, receipt: Receipt? = nil
  ) {
    let content = Notification.Content(
      handler: core.wraps
        ? wrapped(handler, in: receipt == nil ? .notify : .notifyAndWait) : handler,
      receipt: receipt)
    guard topic.post(content, for: core) else { return }
    // Not lower than the default: others may wait for the same delivery.
    core.startDelivery(
      of: topic, priority: receipt == nil ? nil : max(Task.currentPriority, .medium))
  }
}

extension DelegateHub {
  /// The handler within the hub's interceptors, and these within the poster's task-locals.
  private nonisolated func wrapped(
    _ handler: Notification.Handler, in call: CallKind
  ) -> Notification.Handler {
    let handler = core.interception.map { handler.intercepted(by: $0, in: call) } ?? handler
    if core.propagating.isEmpty { return handler }
    return .bound(handler, in: core.propagating.map { $0.capture() })
  }
}

extension Notification.Handler {
  /// Calls a closure that awaits nothing.
  @inlinable
  static func calling<P>(
    _ body: @escaping @Sendable (P) throws -> Void, in recipients: Recipients<P>
  ) -> Self {
    // Made without the recipients where they are all: what it captures would be stored for each notification.
    if recipients.admits == nil {
      return .synchronous { reference in
        guard let subscriber = reference.load(as: P.self) else { return .expired }
        try body(subscriber)
        return .handled
      }
    }
    return .synchronous { try recipients.tell($0, body) }
  }

  /// Calls a closure that awaits something.
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

  /// Calls a closure on its actor, if it belongs to one: a subscription that ends, or a subscriber that dies, before the
  /// actor is free is not called.
  @usableFromInline
  static func calling<P>(
    isolated body: @escaping @isolated(any) @Sendable (P) throws -> Void,
    in recipients: Recipients<P>
  ) -> Self {
    let plain = unisolated(body)
    guard let place = body.isolation else { return calling(plain, in: recipients) }
    return .asynchronous { reference in
      try await call(plain, on: reference, in: recipients, at: place)
    }
  }

  private static func call<P>(
    _ body: @Sendable (P) throws -> Void, on reference: borrowing WeakReference,
    in recipients: Recipients<P>, at place: isolated any Actor
  ) throws -> Notification.Fate {
    HandlerContext.mayGoOn ? try recipients.tell(reference, body) : .expired
  }
}
