/// How subscriptions to all protocols are ended, by the subscriber or its id.
extension DelegateHub {
  /// Ends all subscriptions of an object.
  ///
  /// When it returns, no call of this hub starts on the object any more, as with ``Subscription/cancel()``. Does
  /// nothing if the object is not subscribed.
  ///
  /// **Isolation.** Works from any thread, from every handler and from the object's own `deinit`.
  ///
  /// - Parameter subscriber: the object that subscribed.
  /// - Complexity: O(*p*) in the hub's *p* protocols.
  public nonisolated func unsubscribe(_ subscriber: AnyObject) {
    for topic in core.topics.all { topic.terminate(subscriber) }
  }

  /// Ends all subscriptions of an object and waits until none of its handlers is running, or a deadline comes.
  ///
  /// When it returns empty, no handler of this hub is running on the object, and none will. An incident may still read
  /// an error that a handler threw: ``drain(within:)`` waits for that. At the deadline it returns the subscriptions
  /// whose handlers still run: what these use must not be freed.
  ///
  /// **Order.** No call starts from the moment at which it is called.
  ///
  /// **Isolation.** Works from everywhere, from every handler too.
  ///
  /// **Re-entrancy.** Called from a handler, it waits neither for that handler, nor for handlers that wait themselves:
  /// it returns those of them that run on the object.
  ///
  /// **Cancellation.** Without a deadline it waits even if the caller's task is cancelled, because resources may be
  /// freed when it returns. With a deadline it then returns at once with what is left.
  ///
  /// **Errors.** It does not throw.
  ///
  /// ```swift
  /// await hub.unsubscribeAndWait(module)
  /// module.close()  // nobody calls it any more
  /// ```
  ///
  /// ```swift
  /// let left = await hub.unsubscribeAndWait(module, within: .seconds(5))
  /// if left.isEmpty { module.close() } else { logger.error("not unloaded: \(left)") }
  /// ```
  ///
  /// - Parameters:
  ///   - subscriber: the object that subscribed.
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for no limit. With zero or less it does
  ///     not wait.
  /// - Returns: the object's subscriptions with running handlers; empty if there are none.
  /// - Complexity: O(*p*) in the hub's *p* protocols, apart from the waiting.
  @discardableResult
  public nonisolated func unsubscribeAndWait(
    _ subscriber: AnyObject, within duration: Duration? = nil
  ) async -> Leftovers {
    await Leftovers(of: end(subscriber, in: core.topics.all), within: duration)
  }

  /// Ends an object's subscriptions to some protocols.
  ///
  /// - Returns: these, and those that had ended before and may still have a handler running.
  nonisolated func end(_ subscriber: AnyObject, in topics: [Topic]) -> [SubscriptionNode] {
    for topic in topics { topic.terminate(subscriber) }
    return topics.flatMap { $0.ended(of: subscriber) }
  }

  /// Ends all subscriptions that were made with an id.
  ///
  /// When it returns, no call of this hub starts on those subscribers any more, as with
  /// ``Subscription/cancel()``. Does nothing if there are none.
  ///
  /// **Isolation.** Works from any thread, from every handler and from `deinit`; in an object's `deinit` unsubscribe
  /// the object, because another object may have its id by then. The ids are compared on the caller's thread, under no
  /// lock.
  ///
  /// - Parameter id: the id that was given to ``subscribe(_:to:priority:id:hold:mailbox:on:fileID:line:)``.
  /// - Complexity: O(*p*) in the hub's *p* protocols.
  public nonisolated func unsubscribe(id: some Hashable & Sendable) {
    let identity = Identity(id)
    for topic in core.topics.all { topic.terminate(identifiedBy: identity) }
  }
}

extension DelegateHub.Subscription {
  /// Ends the subscription once its subscriber has handled what was posted before.
  ///
  /// It returns at once. What was posted before is handled, unless the mailbox has a limit that has dropped it; then
  /// the subscription ends, and its stream if it has one: at once if nothing waits and no handler runs. Until then
  /// questions are still asked, and what is posted counts as waiting; it pushes nothing out of a mailbox with a limit,
  /// and is cancelled at the end. Only a replacement undoes the end: if the same object, or another with an equal id,
  /// subscribes before, all that waits goes over.
  ///
  /// **Isolation.** Works from any thread, from synchronous code and from every handler.
  ///
  /// - Complexity: as ``cancel()``.
  public func finish() { node.present.finish(at: node.published) }

  /// Ends the subscription and waits until none of its handlers is running, or a deadline comes.
  ///
  /// When it returns empty, no handler of the subscription is running, and none will; nor is a handler of an ended
  /// subscription of the same object to the same protocol. An incident may still read an error that a handler threw:
  /// ``DelegateHub/drain(within:)`` waits for that. At the deadline it returns the subscriptions that it waited for,
  /// with how many handlers: what these use must not be freed.
  ///
  /// **Order.** No call starts from the moment at which it is called.
  ///
  /// **Isolation.** Works from everywhere, from every handler too.
  ///
  /// **Re-entrancy.** Called from a handler, it waits neither for that handler, nor for handlers that wait themselves,
  /// in this call, `drain` or `notifyAndWait`: if one of those is the subscription's, it is returned. A `Task` that the
  /// handler has started counts as the handler, which might await it. In a `Task.detached` it waits for the handler,
  /// too, and in a `Task` that a synchronous handler of a notification, or of a question that is asked in a loop, has
  /// started. A handler may ask a voter that waits for the handler, as by `drain`: later waits in that handler and in
  /// its other voters do not wait for that voter. In a `Task` that a voter started and nobody awaits, it may not wait
  /// for the question's other voters.
  ///
  /// **Cancellation.** Without a deadline it waits even if the caller's task is cancelled, because resources may be
  /// freed when it returns. With a deadline it then returns at once with what is left.
  ///
  /// **Errors.** It does not throw.
  ///
  /// ```swift
  /// let left = await subscription.cancelAndWait(within: .seconds(5))
  /// if !left.isEmpty { logger.error("still running: \(left)") }
  /// ```
  ///
  /// - Parameter duration: how long to wait at most, by the hub's clock; `nil` for no limit. With zero or less
  ///   it does not wait.
  /// - Returns: the subscription, if handlers of it run, and such other subscriptions of the same object.
  /// - Complexity: as ``cancel()``.
  @discardableResult
  public func cancelAndWait(within duration: Duration? = nil) async -> DelegateHub.Leftovers {
    let node = node.present
    cancel()
    return await DelegateHub.Leftovers(of: node.endedOnes + [node], within: duration)
  }
}

extension DelegateHub.Leftovers {
  /// Waits for the handlers of subscriptions that have ended.
  ///
  /// - Parameters:
  ///   - nodes: the subscriptions.
  ///   - duration: how long to wait at most; `nil` for no limit, even if the task is cancelled.
  init(of nodes: [SubscriptionNode], within duration: Duration?) async {
    let deadline = duration.flatMap { nodes.first?.topic.deadlines.deadline(after: $0) }
    var left: [SubscriptionNode] = []
    for node in nodes {
      let hasEnded = await WaitGoal.end(of: node).wait(
        until: deadline, isCancellable: duration != nil)
      if !hasEnded { left.append(node) }
    }
    self.init(subscribers: left.compactMap { Subscriber(leftOf: $0) })
  }
}
