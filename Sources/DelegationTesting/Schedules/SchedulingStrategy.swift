/// How the next job is chosen among all that could run.
public struct SchedulingStrategy: Hashable, Sendable, CustomStringConvertible {
  enum Code: String { case alternating, random, priorities }

  let code: Code

  /// Even seeds play ``random`` schedules, odd seeds those of ``priorities``.
  public static let alternating = SchedulingStrategy(code: .alternating)

  /// Each job is as likely as any other.
  ///
  /// Finds faults for which tasks have to take turns often.
  public static let random = SchedulingStrategy(code: .random)

  /// The job of the task with the highest priority; the seed draws priorities, and at a few steps the highest becomes
  /// the lowest.
  ///
  /// Finds faults for which one task has to get far ahead of another ("probabilistic concurrency testing"). If one of
  /// *n* tasks has to be lowered at one step, that is found with a probability of at least 1 in 800 × *n* among the
  /// first 100 steps, and of 1 in 10,000 × *n* up to step 400; later it is unlikely.
  public static let priorities = SchedulingStrategy(code: .priorities)

  /// The strategy's name.
  public var description: String { code.rawValue }

  /// The strategy for a seed.
  func resolved(for seed: UInt64) -> SchedulingStrategy {
    guard self == .alternating else { return self }
    return seed.isMultiple(of: 2) ? .random : .priorities
  }
}
