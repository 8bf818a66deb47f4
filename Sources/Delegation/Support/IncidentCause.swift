/// What can go wrong with a subscription, as it is found; what the user is told of it is an incident.
enum IncidentCause: Sendable {
  /// A handler threw, and its caller is not told.
  case failed(any Error)
  /// The subscriber had not answered at a deadline.
  case late
  /// A handler runs for longer than it should.
  case slow
  /// The mailbox has begun to drop notifications: how many since that was told the last time.
  case dropped(Int)
  /// The subscriber died before it was ever called.
  case unheard
}
