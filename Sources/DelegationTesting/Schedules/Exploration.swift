/// What was explored, if no schedule failed.
public struct Exploration: Hashable, Sendable, CustomStringConvertible {
  /// How many schedules were played.
  public internal(set) var schedules = 0
  /// How many of them differ from all others in which task ran when.
  ///
  /// Few mean a small scenario, for which fewer seeds would have done.
  public internal(set) var distinctSchedules = 0
  /// How many jobs were run in all of them.
  public internal(set) var steps = 0
  /// How many jobs came from other threads, at times that no seed decides.
  ///
  /// With none, the same seeds play the same schedules each time.
  public internal(set) var foreignJobs = 0

  /// The numbers, in words.
  public var description: String {
    let others = foreignJobs == 0 ? "" : ", \(foreignJobs) jobs from other threads"
    return "\(schedules) schedules, \(distinctSchedules) of them distinct, \(steps) steps\(others)"
  }
}
