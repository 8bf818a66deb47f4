/// What a subscriber is like.
enum Temper: CaseIterable, Sendable {
  /// Does next to nothing.
  case prompt
  /// Lets others go first.
  case yielding
  /// Sleeps on the job.
  case sleeping
  /// Throws now and then.
  case failing
  /// Calls the hub from its handlers.
  case meddling
  /// Ends its own subscription some day.
  case fickle

  /// Whether its owner alone decides when its subscription ends.
  var isLoyal: Bool { self != .fickle }
}
