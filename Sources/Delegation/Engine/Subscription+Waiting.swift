extension DelegateHub.Subscription {
  /// Ends the subscription and waits until none of its handlers is running.
  ///
  /// When it returns, no handler of the subscription is running, and none will. Nor is one of an ended subscription
  /// of the same object to the same protocol.
  ///
  /// **Order.** No call starts from the moment at which it is called.
  ///
  /// **Isolation.** Works from everywhere, from every handler too.
  ///
  /// **Re-entrancy.** Called from a handler of this subscription, it does not wait for that handler, nor for
  /// handlers that wait for it in turn. A `Task` that the handler has started counts as the handler, which
  /// might await it. In a `Task.detached` it waits for the handler, too, and in a `Task` that a synchronous
  /// handler of a notification, or of a question that is asked in a loop, has started. If a voter waits for the handler
  /// that asks it, by way of its subscription or hub, later waits in that handler and in the other voters do not wait
  /// for this voter.
  ///
  /// **Cancellation.** It waits even if the caller's task is cancelled, because resources may be
  /// freed when it returns.
  ///
  /// **Errors.** It does not throw.
  ///
  /// - Complexity: as ``cancel()``.
  public func cancelAndWait() async {
    cancel()
    for node in node.endedOnes + [node] { await WaitGoal.end(of: node).wait() }
  }
}
