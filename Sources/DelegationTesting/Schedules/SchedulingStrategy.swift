/// How the job that comes next is chosen among all that could.
public struct SchedulingStrategy: Hashable, Sendable, CustomStringConvertible {
  enum Code: String { case alternating, random, priorities }

  let code: Code

  /// Even seeds play ``random`` schedules, odd ones those of ``priorities``.
  public static let alternating = SchedulingStrategy(code: .alternating)

  /// Each job is as likely as any other.
  ///
  /// Finds faults for which tasks have to take turns often.
  public static let random = SchedulingStrategy(code: .random)

  /// The job of the task with the highest priority; priorities are drawn by the seed, and at a few steps
  /// the highest one becomes the lowest.
  ///
  /// Finds faults for which one task has to get far ahead of another. A fault that takes *d*
  /// constraints on the order is found with a probability of at least 1 in *n* × *k* to the power
  /// of *d* - 1, for *n* tasks and *k* steps ("probabilistic concurrency testing").
  public static let priorities = SchedulingStrategy(code: .priorities)

  /// The strategy's name.
  public var description: String { code.rawValue }

  /// The strategy that is meant for a seed.
  func resolved(for seed: UInt64) -> SchedulingStrategy {
    guard self == .alternating else { return self }
    return seed.isMultiple(of: 2) ? .random : .priorities
  }
}
