/// How subscriptions are ended by the subscriber, its id or the protocol.
extension DelegateHub {
  /// Ends an object's subscription to a protocol.
  ///
  /// When it returns, no call of that protocol starts on the object any more, as with
  /// ``DelegateHub/Subscription/cancel()``. Does nothing if it is not subscribed.
  ///
  /// **Isolation.** Works from any thread, from every handler and from `deinit`.
  ///
  /// - Parameters:
  ///   - subscriber: the object that subscribed.
  ///   - protocol: the protocol.
  /// - Complexity: as ``DelegateHub/Subscription/cancel()``.
  public nonisolated func unsubscribe<P>(_ subscriber: P, from protocol: P.Type) {
    inbox.terminate(Self.object(of: subscriber), of: ObjectIdentifier(`protocol`))
  }

  /// Ends all subscriptions of an object.
  ///
  /// When it returns, no call of this hub starts on the object any more. Does nothing if it is not
  /// subscribed.
  ///
  /// **Isolation.** Works from any thread, from every handler and from the object's own `deinit`.
  ///
  /// - Parameter subscriber: the object that subscribed.
  /// - Complexity: O(*p*) in the hub's *p* protocols.
  public nonisolated func unsubscribe(_ subscriber: AnyObject) {
    inbox.terminate(subscriber, of: nil)
  }

  /// Ends all subscriptions of an object and waits until none of its handlers is running.
  ///
  /// When it returns, no handler of this hub is running on the object, and none will.
  ///
  /// **Order.** No call starts from the moment at which it is called.
  ///
  /// **Isolation.** Works from everywhere, from every handler too.
  ///
  /// **Re-entrancy.** Called from a handler of the object, it does not wait for that handler, nor
  /// for handlers that wait for it in turn.
  ///
  /// **Cancellation.** It waits even if the caller's task is cancelled, because resources may be
  /// freed when it returns.
  ///
  /// **Errors.** It does not throw.
  ///
  /// ```swift
  /// await hub.unsubscribeAndWait(module)
  /// module.close()  // nobody calls it any more
  /// ```
  ///
  /// - Parameter subscriber: the object that subscribed.
  /// - Complexity: O(*n*) in the hub's *n* subscriptions.
  public nonisolated func unsubscribeAndWait(_ subscriber: AnyObject) async {
    await unsubscribeAndWait(subscriber, from: nil)
  }

  /// Ends an object's subscriptions to a protocol, or to all, and waits for its handlers.
  nonisolated func unsubscribeAndWait(
    _ subscriber: AnyObject, from key: ObjectIdentifier?
  ) async {
    inbox.terminate(subscriber, of: key)
    // Also subscriptions that had ended before and still have a handler running.
    for overview in await allSubscriptions() where key == nil || overview.topic.key == key {
      for node in overview.nodes where !node.isOpen && node.reference.refers(to: subscriber) {
        await WaitGoal.end(of: node).wait()
      }
    }
  }

  /// Ends all subscriptions that were made with an id.
  ///
  /// When it returns, no call of this hub starts on those subscribers any more. Does nothing if there
  /// are none.
  ///
  /// **Isolation.** Works from any thread, from every handler and from `deinit`. The ids are compared
  /// on the caller's thread, under no lock.
  ///
  /// - Parameter id: the id that was given to ``subscribe(_:to:priority:id:hold:mailbox:on:fileID:line:)-6j6cp``.
  /// - Complexity: O(*p*) in the hub's *p* protocols.
  public nonisolated func unsubscribe(id: some Hashable & Sendable) {
    inbox.terminate(identifiedBy: Identity(id))
  }

  /// Ends all subscriptions to a protocol.
  ///
  /// When it returns, no call of that protocol starts on the former subscribers.
  ///
  /// **Isolation.** Works from any thread, from every handler and from `deinit`.
  ///
  /// - Parameter protocol: the protocol.
  /// - Complexity: O(*n* log *n*) in the protocol's *n* subscriptions.
  public nonisolated func unsubscribeAll<P>(from protocol: P.Type) {
    inbox.terminateAll(of: ObjectIdentifier(`protocol`))
  }
}
