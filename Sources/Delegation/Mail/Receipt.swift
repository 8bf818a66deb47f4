internal import Synchronization

/// How many subscriptions have yet to pass a notification that a caller waits for.
///
/// A subscription passes it once: when its handler has returned or thrown, or when the notification is
/// dropped or discarded.
@usableFromInline
final class Receipt: Sendable {
  /// The notification that this is for.
  struct Place: Sendable {
    /// The number of the topic, which no other hub's has.
    var topic: Int
    var number: Int
  }

  /// Set once, by ``open(number:to:addressees:)``; `nil` if it was posted to nobody.
  private let postedAt = Lock<Place?>(nil)
  let outstanding = AwaitedCount()

  /// Sets what to wait for.
  ///
  /// Called under the inbox's lock, before a subscription can pass.
  func open(number: Int, to topic: Int, addressees: Int) {
    postedAt.withLock { $0 = Place(topic: topic, number: number) }
    outstanding.rise(by: addressees)
  }

  /// Counts off one subscription.
  ///
  /// Must not be called under a lock.
  func pass() {
    outstanding.fall()
  }

  var place: Place? { postedAt.withLock { $0 } }
}
