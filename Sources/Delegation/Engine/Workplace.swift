/// What a fan-out needs of the hub that it works for.
///
/// A fan-out keeps it until its last worker is done: what was posted is delivered though the hub is
/// released.
@usableFromInline
protocol Workplace: AnyObject, Sendable {
  /// Where handlers run, if their subscription names no executor.
  var executor: (any TaskExecutor)? { get }
  /// Where workers are counted.
  var activity: Activity { get }
  /// Notices slow handlers.
  var slowWatch: SlowWatch? { get }
}
