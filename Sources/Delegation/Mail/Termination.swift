/// How a subscription ends.
@usableFromInline
enum Termination: Sendable {
  /// It was cancelled, unsubscribed, or its hub was released.
  case cancelled
  /// Its subscriber died.
  case expired
}

/// What became of the notifications that were addressed to one subscription.
typealias Account = DelegateHub.Statistics.Counts
