/// A subscriber's place in a hub, by which it can be ended.
///
/// Letting go of the value changes nothing: a subscription ends when it is cancelled, when its
/// subscriber is unsubscribed or dies, or when its hub is released. Two values are equal if they stand
/// for the same subscription.
public struct Subscription: Sendable, Hashable {
  let node: SubscriptionNode

  /// Ends the subscription.
  ///
  /// When it returns, no call starts on the subscriber any more, not even one of a fan-out under way;
  /// one that has started may still run. Notifications that waited are counted as cancelled.
  /// Cancelling again does nothing.
  ///
  /// **Isolation.** Works from any thread, from every handler and from `deinit`.
  ///
  /// - Complexity: O(1), and O(*n*) once for the *n* notifications that only this subscriber had
  ///   left to handle.
  public func cancel() {
    node.terminate(as: .cancelled)
  }

  /// Ends the subscription and waits until none of its handlers is running.
  ///
  /// When it returns, no handler of the subscription is running, and none will.
  ///
  /// **Order.** No call starts from the moment at which it is called.
  ///
  /// **Isolation.** Works from everywhere, from every handler too.
  ///
  /// **Re-entrancy.** Called from a handler of this subscription, it does not wait for that handler,
  /// nor for handlers that in turn wait for it.
  ///
  /// **Cancellation.** Its promise is one on which resources may be freed, so it keeps it even if the
  /// caller's task is cancelled.
  ///
  /// **Errors.** It does not throw.
  ///
  /// - Complexity: as ``cancel()``.
  public func cancelAndWait() async {
    cancel()
    await node.inbox.wait(for: .end(of: node))
  }

  /// Whether calls may still start: it was not cancelled, and its subscriber and hub are alive.
  ///
  /// **Isolation.** Works from any thread. What it says may be out of date by the time it is read.
  ///
  /// - Complexity: O(1).
  public var isActive: Bool {
    node.isOpen && node.reference.isAlive
  }

  /// Whether two values stand for the same subscription.
  ///
  /// - Parameters:
  ///   - lhs: a subscription.
  ///   - rhs: another one.
  /// - Returns: whether they do.
  public static func == (lhs: Subscription, rhs: Subscription) -> Bool {
    lhs.node === rhs.node
  }

  /// Hashes which subscription this is.
  ///
  /// - Parameter hasher: the hasher to feed.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(node))
  }
}
