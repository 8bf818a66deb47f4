internal import Synchronization

/// What a stream's loops share: who waits for the next event, and who waits for the one that is in hand.
///
/// `@unchecked Sendable`: used under the lock of the subscription's contents only.
final class StreamLoop: @unchecked Sendable {
  private(set) var waiters: [Waiter] = []
  /// The number of the notification in hand; that which the mailbox would say is not, once its limit has dropped others.
  var number: Int?
  /// That of the notification in hand.
  var receipt: Receipt?
  /// What has become of it.
  var fate = Notification.Fate.handled
  /// Whether a loop brings the event of the notification in hand; written under that lock.
  private let taking = Atomic(false)
  var isTaking: Bool {
    get { taking.load(ordering: .sequentiallyConsistent) }
    set { taking.store(newValue, ordering: .sequentiallyConsistent) }
  }

  /// Notes that nothing is in hand any more.
  func putDown() -> (receipt: Receipt?, fate: Notification.Fate) {
    defer { (fate, number) = (.handled, nil) }
    return (receipt.take(), fate)
  }

  func makeWaiter() -> Waiter {
    let waiter = Waiter()
    waiters.append(waiter)
    return waiter
  }

  func nextWaiter() -> Waiter? { waiters.isEmpty ? nil : waiters.removeFirst() }

  /// - Returns: whether it was there.
  func remove(_ waiter: Waiter) -> Bool {
    waiters.firstIndex { $0 === waiter }.map { waiters.remove(at: $0) } != nil
  }
}
