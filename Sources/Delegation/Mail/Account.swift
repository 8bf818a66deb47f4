/// What became of the notifications that were addressed to one subscription, or to several.
struct Account: Sendable, Hashable {
  var handled = 0
  var failed = 0
  var expired = 0
  var dropped = 0
  var cancelled = 0
  var waiting = 0

  var total: Int { handled + failed + expired + dropped + cancelled + waiting }

  static func += (account: inout Account, other: Account) {
    account.handled += other.handled
    account.failed += other.failed
    account.expired += other.expired
    account.dropped += other.dropped
    account.cancelled += other.cancelled
    account.waiting += other.waiting
  }
}
