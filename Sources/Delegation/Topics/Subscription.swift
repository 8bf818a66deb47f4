extension DelegateHub {
  /// A subscriber's place in a hub, with which you can end it.
  ///
  /// Releasing the value changes nothing: a subscription ends when it is cancelled or finished, when its subscriber
  /// is unsubscribed or dies, when another object takes its place, or when its hub is released. Two values are equal if
  /// they stand for the same object's subscription at one place: one that subscribes again with another option has new
  /// counts, and its tokens stay good.
  public struct Subscription: Sendable, Hashable {
    /// The subscription that it was made for, which the same object may have replaced since: see
    /// ``SubscriptionNode/present``.
    let node: SubscriptionNode

    /// Ends the subscription.
    ///
    /// An object has one subscription at a place, whoever has subscribed it: if two components have, each one's `cancel()`
    /// ends it for both. If another object has taken the place, and waits for a handler of this subscription that hangs,
    /// this lets it begin.
    ///
    /// When it returns, no call starts on the subscriber any more, not even a call that is under
    /// way for others. A handler that has started may still run. If it has yet to switch to the
    /// subscriber's actor, or a worker on another thread is just about to call it, the method may still be
    /// entered. If you cancel on the main actor, or on the subscription's own serial executor, no synchronous
    /// handler is entered there afterwards.
    ///
    /// Notifications that waited are counted as cancelled, and are released before it returns: a `deinit` of an
    /// object that only they kept alive runs in the caller's place. So do not cancel under a lock that it takes. To cancel
    /// again does nothing. If another thread is just ending the subscription, that thread counts and releases them.
    ///
    /// **Isolation.** Works from any thread, from every handler and from `deinit`.
    ///
    /// - Complexity: O(1), amortised, and O(*n*) once for the *n* notifications that only this subscriber had
    ///   left to handle. If a `notifyAndWait` waits for the subscriber, also O(*n*) in the *n*
    ///   notifications before that one; for an object with *n* ended subscriptions to the protocol whose handlers have
    ///   not returned, O(*n*).
    public func cancel() {
      node.terminate(as: .cancelled)
    }

    /// Whether calls may still start: the subscription was not cancelled, and its subscriber and
    /// hub are alive.
    ///
    /// **Isolation.** Works from any thread. What it says may be out of date by the time it is read.
    ///
    /// - Complexity: O(1).
    public var isActive: Bool {
      node.present.isActive
    }

    /// Whether two values stand for the same subscription.
    ///
    /// - Parameters:
    ///   - lhs: a subscription.
    ///   - rhs: another one.
    /// - Returns: whether they do.
    public static func == (lhs: Subscription, rhs: Subscription) -> Bool {
      lhs.node.origin == rhs.node.origin && lhs.node.topic === rhs.node.topic
    }

    /// Hashes which subscription this is.
    ///
    /// - Parameter hasher: the hasher to feed.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(node.origin)
    }
  }
}
