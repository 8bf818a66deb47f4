/// What waited when a subscription ended, for the caller to release outside the lock.
struct PendingNotifications: Sendable {
  var stored: [Notification.Content] = []
  var chain: Notification?
  var length = 0

  /// Releases what waited, one by one, and passes the receipts.
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
