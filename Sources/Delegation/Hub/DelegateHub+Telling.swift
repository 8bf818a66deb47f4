/// Notifications, with and without waiting until they have been handled.
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
    let receipt = Receipt()
    guard let topic = heardTopic(of: recipients.key) else { return Outcome(receipt) }
    post(handler(recipients), to: topic, receipt: receipt)
    guard let awaited = receipt.before(window) else { return Outcome(receipt) }
    let isPassed = await WaitGoal.passing(of: awaited).wait(until: deadline)
    if isPassed || awaited.outstanding.value == 0 { return Outcome(receipt) }
    return Outcome(
      receipt, left: topic.overview().nodes.filter { $0.hasPending(awaited) }
        .compactMap { Leftovers.Subscriber($0) })
  }

  @usableFromInline
  nonisolated func post(
    _ handler: Notification.Handler, to topic: Topic, receipt: Receipt? = nil
  ) {
    var content = Notification.Content(handler: handler, receipt: receipt)
    if core.interception != nil || !core.propagating.isEmpty {
      let call: CallKind = receipt == nil ? .notify : .notifyAndWait
      if let interception = core.interception {
        content.handler = handler.intercepted(by: interception, in: call)
      }
      content.context = core.propagating.map { $0.capture() }
    }
    guard topic.post(content, for: core) else { return }
    // Not lower than the default: others may wait for the same delivery.
    core.startDelivery(of: topic, priority: receipt == nil ? nil : max(Task.currentPriority, .medium))
  }
}

extension Notification.Handler {
  /// Calls a closure that awaits nothing.
  @inlinable
  static func calling<P>(
    _ body: @escaping @Sendable (P) throws -> Void, in recipients: Recipients<P>
  ) -> Self {
    .synchronous { reference in
      guard let subscriber = recipients.load(reference) else {
        return recipients.absence(of: reference)
      }
      try body(subscriber)
      return .handled
    }
  }

  /// Calls a closure that awaits something.
  @inlinable
  static func awaiting<P>(
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void,
    in recipients: Recipients<P>
  ) -> Self {
    .asynchronous { reference in
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
    isolated body: @escaping @isolated(any) @Sendable (P) throws -> Void, in recipients: Recipients<P>
  ) -> Self {
    let plain = unisolated(body)
    guard let place = body.isolation else { return calling(plain, in: recipients) }
    return .asynchronous { reference in try await call(plain, on: reference, in: recipients, at: place) }
  }

  private static func call<P>(
    _ body: @Sendable (P) throws -> Void, on reference: borrowing WeakReference,
    in recipients: Recipients<P>, at place: isolated any Actor
  ) throws -> Notification.Fate {
    guard HandlerContext.mayGoOn else { return .expired }
    guard let subscriber = recipients.load(reference) else { return recipients.absence(of: reference) }
    try body(subscriber)
    return .handled
  }
}
