/// What became of the notifications that were addressed to one subscription, or to several.
///
/// In an account that is taken at one moment, the sum of all counts is the number that was addressed.
struct Account: Sendable, Hashable {
  /// Their handlers returned.
  var handled = 0
  /// Their handlers threw.
  var failed = 0
  /// Their subscriber died before it got to them.
  var expired = 0
  /// The subscriber's mailbox was full.
  var dropped = 0
  /// The subscription was cancelled before it got to them.
  var cancelled = 0
  /// They were for subscribers that conform to a further protocol, and this one does not.
  var passedOver = 0
  /// They are pending.
  var waiting = 0
  /// Their handlers are running, or about to run.
  var handling = 0

  var total: Int {
    handled + failed + expired + dropped + cancelled + passedOver + waiting + handling
  }

  static func += (account: inout Account, other: Account) {
    account.handled += other.handled
    account.failed += other.failed
    account.expired += other.expired
    account.dropped += other.dropped
    account.cancelled += other.cancelled
    account.passedOver += other.passedOver
    account.waiting += other.waiting
    account.handling += other.handling
  }
}
