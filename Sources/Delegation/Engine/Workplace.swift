/// What a lane or a round needs of its hub.
///
/// A lane keeps it until its last worker is done, so that what was posted is delivered even if the
/// hub is released.
@usableFromInline
protocol Workplace: AnyObject, Sendable {
  /// The executor of handlers whose subscription has none.
  var executor: (any TaskExecutor)? { get }
  /// The count of workers.
  var activity: Activity { get }
  /// What the hub does around handlers, if anything.
  var surroundings: Surroundings? { get }
}
