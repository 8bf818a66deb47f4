/// The notifications that were pending when a subscription was terminated.
///
/// To be released outside the lock, by which they may die.
struct PendingNotifications: Sendable {
  var stored: [Notification.Content] = []
  var chain: Notification?
  /// The number of the chain's first notification.
  var first = 0
  /// How many of the chain waited.
  var length = 0

  /// Passes the receipts of what waited.
  ///
  /// - Parameter last: the number of the latest notification that was posted with a receipt: no other one
  ///   of the chain is looked at.
  /// - Returns: how many of the chain were looked at.
  /// - Complexity: O(*n*) in what was stored and in the *n* of the chain up to that one.
  @discardableResult
  func passReceipts(upTo last: Int) -> Int {
    for content in stored { content.receipt?.pass() }
    let count = max(0, min(length - 1, last - first) + 1)
    var next = chain
    for _ in 0..<count {
      next?.content?.receipt?.pass()
      next = next?.next
    }
    return count
  }
}
