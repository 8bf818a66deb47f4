/// What went wrong with a subscription; the hub makes an incident of it.
enum IncidentCause: Sendable {
  /// A handler threw an error that no caller receives.
  case failed(any Error)
  /// The subscriber had not answered at a deadline.
  case late
  /// A handler runs for longer than it should.
  case slow
  /// The mailbox has begun to drop notifications: how many since the last report.
  case dropped(Int)
  /// The subscriber died before it was ever called.
  case unheard
}
