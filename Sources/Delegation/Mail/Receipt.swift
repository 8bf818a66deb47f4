internal import Synchronization

/// What becomes of a notification that a caller waits for.
///
/// A subscription passes it once: when its handler has returned or thrown, or when the notification is
/// dropped or discarded.
@usableFromInline
final class Receipt: Sendable {
  /// Where it was posted: the number of the topic, which no other hub's has, that of the notification, and how many
  /// with a receipt had been posted there before.
  typealias Place = (topic: Int, number: Int, order: Int)

  /// Set once, by ``open(at:addressees:)``; `nil` if it was posted to nobody.
  private let postedAt = Lock<Place?>(nil)
  /// Whether one conforms to the further protocols; `nil` for all.
  private let admits: RecipientFilter?
  /// How many subscriptions have yet to pass it.
  let outstanding = AwaitedCount()
  /// How many subscriptions it was addressed to, without those that are found not to conform.
  let addressed = Atomic(0)
  let handled = Atomic(0)
  let failed = Atomic(0)
  let missed = Atomic(0)

  init(admitting admits: RecipientFilter?) { self.admits = admits }

  /// Sets what to wait for.
  ///
  /// Called under the topic's lock, before a subscription can pass.
  func open(at place: Place, addressees: Int) {
    postedAt.withLock { $0 = place }
    addressed.store(addressees, ordering: .relaxed)
    outstanding.rise(by: addressees)
  }

  /// Counts off one subscription, for which the notification has ended so.
  ///
  /// Must not be called under a lock.
  func pass(as fate: Notification.Fate) {
    // Before the fall: who finds that all have passed finds all of them counted.
    switch fate {
    case .handled: handled.wrappingAdd(1, ordering: .relaxed)
    case .failed: failed.wrappingAdd(1, ordering: .relaxed)
    case .notAddressed: addressed.wrappingSubtract(1, ordering: .relaxed)
    case .passedOver, .expired: missed.wrappingAdd(1, ordering: .relaxed)
    }
    outstanding.fall()
  }

  /// Counts off one subscription that has dropped or discarded the notification.
  ///
  /// Must not be called under a lock.
  func passUnhandled(by subscriber: borrowing WeakReference) {
    let isAddressed = admits.flatMap { subscriber.living.map($0) } ?? true
    pass(as: isAddressed ? .expired : .notAddressed)
  }

  var place: Place? { postedAt.withLock { $0 } }

  /// Whether all have passed it.
  var isPassed: Bool { outstanding.value == 0 }
}

/// The receipts of one protocol that are not passed by all, and some that are, in the order of posting.
struct ReceiptQueue: Sendable {
  /// The receipts, and how many were posted before each.
  private var entries: [(order: Int, receipt: Receipt)] = []
  /// How many have been posted.
  private(set) var total = 0
  /// The number of entries at which those that are passed are removed, which so costs little for each.
  private var limit = 16

  mutating func add(_ receipt: Receipt) {
    if entries.count >= limit {
      entries.removeAll { $0.receipt.isPassed }
      limit = max(16, 2 * entries.count)
    }
    entries.append((total, receipt))
    total += 1
  }

  /// The receipt that was posted when so many had been; `nil` if it is passed by all.
  ///
  /// - Complexity: O(log *n*) in the number of those that are not.
  func find(_ order: Int) -> Receipt? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].order < order { low = middle + 1 } else { high = middle }
    }
    guard low < entries.count, entries[low].order == order else { return nil }
    return entries[low].receipt
  }

  /// Those that somebody waits for.
  var awaited: [Receipt] { entries.map(\.receipt).filter { $0.outstanding.isAwaited } }
}
