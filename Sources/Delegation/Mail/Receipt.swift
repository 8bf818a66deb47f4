internal import Synchronization

/// How many subscriptions have yet to pass a notification that a caller waits for.
///
/// A subscription passes it once: when its handler has returned or thrown, or when the notification is
/// dropped or discarded.
@usableFromInline
final class Receipt: Sendable {
  /// The number of the topic, which no other hub's has, and that of the notification that this is for.
  ///
  /// Set once, by ``open(number:to:addressees:)``; `nil` if it was posted to nobody.
  private let postedAt = Lock<(topic: Int, number: Int)?>(nil)
  let outstanding = AwaitedCount()

  /// Sets what to wait for.
  ///
  /// Called under the inbox's lock, before a subscription can pass.
  func open(number: Int, to topic: Int, addressees: Int) {
    postedAt.withLock { $0 = (topic, number) }
    outstanding.rise(by: addressees)
  }

  /// Counts off one subscription.
  ///
  /// Must not be called under a lock.
  func pass() {
    outstanding.fall()
  }

  var place: (topic: Int, number: Int)? { postedAt.withLock { $0 } }
}
