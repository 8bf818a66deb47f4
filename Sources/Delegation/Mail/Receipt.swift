internal import Synchronization

/// How many subscriptions have yet to pass a notification that somebody waits for.
///
/// A subscription passes it once: by handling it, by failing, or by never getting to it.
final class Receipt: Sendable {
  /// Which notification this is for.
  struct Place: Sendable {
    /// The number of the topic, which is one hub's.
    var topic: Int
    var number: Int
  }

  /// Set once, under the inbox's lock, before anyone can pass; `nil` if it was posted to nobody.
  private let postedAt = Lock<Place?>(nil)
  let outstanding = AwaitedCount()

  /// Sets what there is to wait for.
  ///
  /// Called under the inbox's lock, before anyone can pass.
  func open(number: Int, to topic: Int, addressees: Int) {
    postedAt.withLock { $0 = Place(topic: topic, number: number) }
    outstanding.rise(by: addressees)
  }

  /// Counts one subscription that has passed.
  ///
  /// Must not be called under a lock.
  func pass() {
    outstanding.fall()
  }

  var place: Place? { postedAt.withLock { $0 } }
}
