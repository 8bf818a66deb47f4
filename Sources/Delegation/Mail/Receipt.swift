internal import Synchronization

/// How many subscriptions have yet to pass a notification that somebody waits for.
///
/// A subscription passes it once: by handling it, by failing, or by never getting to it.
final class Receipt: Sendable {
  private struct Place: Sendable {
    var topic: Topic
    var number: Int
  }

  let inbox: Inbox
  /// Which notification this is for; `nil` as long as it is not posted.
  private let place = Lock<Place?>(nil)
  private let remaining = Atomic<Int>(0)

  init(inbox: Inbox) {
    self.inbox = inbox
  }

  /// Sets what there is to wait for.
  ///
  /// Called under the inbox's lock, before anyone can pass.
  func open(number: Int, in topic: Topic, addressees: Int) {
    place.withLock { $0 = Place(topic: topic, number: number) }
    remaining.store(addressees, ordering: .sequentiallyConsistent)
  }

  /// Counts one subscription that has passed.
  ///
  /// Must not be called under a lock.
  func pass() {
    remaining.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    inbox.receiptPassed()
  }

  /// How many subscriptions have yet to pass.
  var outstanding: Int { remaining.load(ordering: .sequentiallyConsistent) }

  /// Whether a subscription is among those that have yet to pass.
  func isOutstanding(at node: SubscriptionNode) -> Bool {
    guard let place = place.withLock({ $0 }), place.topic === node.topic else { return false }
    return node.owes(place.number)
  }
}
