/// What has become of notifications.
package struct Accounts: Sendable, Hashable, CustomStringConvertible {
  package var posted = 0
  /// Posted times the subscribers each was for.
  package var addressed = 0
  package var handled = 0
  package var failed = 0
  package var expired = 0
  package var dropped = 0
  package var cancelled = 0
  package var waiting = 0

  package var areBalanced: Bool {
    handled + failed + expired + dropped + cancelled + waiting == addressed
  }

  package var description: String {
    "posted \(posted), addressed \(addressed), handled \(handled), failed \(failed), "
      + "expired \(expired), dropped \(dropped), cancelled \(cancelled), waiting \(waiting): "
      + (!areBalanced ? "NOT balanced" : waiting == 0 ? "balanced" : "NOT all told")
  }
}
