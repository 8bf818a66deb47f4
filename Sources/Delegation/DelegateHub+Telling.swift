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
  /// **Errors.** A handler that throws is reported to ``Configuration/onFailure``; the others are not
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
  public nonisolated func notify<P>(
    _ protocol: P.Type, _ body: @escaping @Sendable (P) throws -> Void
  ) {
    let handler = Notification.Handler.synchronous { node in
      guard let subscriber = node.subscriber(as: P.self) else { return false }
      try body(subscriber)
      return true
    }
    wake(inbox.post(handler, to: ObjectIdentifier(`protocol`)))
  }

  /// Calls an asynchronous handler on every subscriber of a protocol, without waiting for any.
  ///
  /// As the synchronous form; a subscriber's next notification begins when the handler has returned,
  /// however long it suspends, and the other subscribers go on meanwhile.
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to call.
  ///   - body: what to do with each subscriber.
  /// - Complexity: O(1), whatever the number of subscribers.
  public nonisolated func notify<P>(
    _ protocol: P.Type, _ body: @escaping @Sendable (P) async throws -> Void
  ) {
    let handler = Notification.Handler.asynchronous { node in
      guard let subscriber = node.subscriber(as: P.self) else { return false }
      try await body(subscriber)
      return true
    }
    wake(inbox.post(handler, to: ObjectIdentifier(`protocol`)))
  }
}
