/// The notifications that were pending when a subscription was terminated.
///
/// To be discarded outside the lock.
struct PendingNotifications: Sendable {
  var stored: [Notification.Content] = []
  var chain: Notification?
  var length = 0

  /// Passes the receipts, and releases the notifications one by one.
  consuming func discard() {
    for content in stored { content.receipt?.pass() }
    var next = chain
    chain = nil
    for _ in 0..<length {
      next?.content?.receipt?.pass()
      next = next?.next
    }
  }
}
