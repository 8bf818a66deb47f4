extension DelegateHub.Subscription {
  /// Ends the subscription and waits until none of its handlers is running.
  ///
  /// When it returns, no handler of the subscription is running, and none will. Nor is the handler of a notification
  /// that the same object got by a former subscription to the same protocol.
  ///
  /// **Order.** No call starts from the moment at which it is called.
  ///
  /// **Isolation.** Works from everywhere, from every handler too.
  ///
  /// **Re-entrancy.** Called from a handler of this subscription, it does not wait for that handler, nor for
  /// handlers that wait for it in turn. A `Task` that the handler has started counts as the handler, which
  /// might await it; a `Task.detached` waits for the handler, too. So does a `Task` that a synchronous
  /// handler of a notification, or of a question that is asked in a loop, has started. If a voter waits for
  /// the subscription or the hub of the handler that asks it, later waits of that handler and of the other
  /// voters do not wait for this voter.
  ///
  /// **Cancellation.** It waits even if the caller's task is cancelled, because resources may be
  /// freed when it returns.
  ///
  /// **Errors.** It does not throw.
  ///
  /// - Complexity: as ``cancel()``.
  public func cancelAndWait() async {
    cancel()
    await WaitGoal.end(of: node).wait()
    for former in node.formerSubscriptions { await WaitGoal.end(of: former).wait() }
  }
}
