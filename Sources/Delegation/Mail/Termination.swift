/// How a subscription is terminated.
@usableFromInline
enum Termination: Sendable {
  /// It was cancelled, unsubscribed, or its hub was released.
  case cancelled
  /// Its subscriber died.
  case expired
}
