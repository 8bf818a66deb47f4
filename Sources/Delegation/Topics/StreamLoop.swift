/// What the loops of one stream share.
///
/// `@unchecked Sendable`: used under the lock of the subscription's contents only.
final class StreamLoop: @unchecked Sendable {
  /// One notification that a loop has taken, and not yet handled.
  struct Hand: Sendable {
    let number: Int
    let receipt: Receipt?
    /// What became of it.
    var fate = Notification.Fate.failed
  }

  /// The loops that wait for the next event.
  private(set) var waiters: [Waiter] = []
  /// The numbers of the notifications that loops have in hand.
  private(set) var hands: [Int] = []

  func take(_ number: Int) { hands.append(number) }

  func putDown(_ number: Int) {
    if let index = hands.firstIndex(of: number) { hands.remove(at: index) }
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
