/// How a hub refers to a subscriber.
public enum Hold: Sendable, Hashable {
  /// The hub does not keep the subscriber alive: its death ends the subscription.
  case weakly
  /// The hub keeps the subscriber alive until it is cancelled, unsubscribed, or the hub is released.
  ///
  /// For proxies of remote objects, which nobody else holds, and for modules that the hub owns.
  case strongly
}
