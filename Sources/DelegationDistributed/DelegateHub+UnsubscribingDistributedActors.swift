public import Delegation
public import Distributed

extension DelegateHub {
  /// Ends all subscriptions of a distributed actor, whichever of its proxies has subscribed.
  ///
  /// The same as `unsubscribe(id: subscriber.id)`; subscriptions of this very proxy with another id
  /// end too. When it returns, no call of this hub starts on the actor any more. Does nothing if it is
  /// not subscribed.
  ///
  /// **Isolation.** Works from any thread, from every handler and from `deinit`.
  ///
  /// - Parameter subscriber: the actor, or any proxy of it.
  /// - Complexity: O(*p*) in the hub's *p* protocols.
  public nonisolated func unsubscribe(_ subscriber: any DistributedActor) {
    // Not a generic method: the compiler would prefer the one for any object.
    unsubscribe(id: identity(of: subscriber))
    unsubscribe(subscriber as AnyObject)
  }
}
