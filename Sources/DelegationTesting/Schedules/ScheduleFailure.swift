/// A schedule that failed, and the seed that plays it again.
public struct ScheduleFailure: Error, Sendable, CustomStringConvertible,
  CustomDebugStringConvertible
{
  /// A way to fail.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    private enum Code: String { case threw, stuck, endless, cancelled, uniform, headStart }

    private let code: Code

    /// The scenario threw an error.
    public static let threw = Kind(code: .threw)
    /// No job was left, and the scenario had not ended.
    public static let stuck = Kind(code: .stuck)
    /// The limit of steps was reached.
    public static let endless = Kind(code: .endless)
    /// The task that explores was cancelled before the schedule began.
    public static let cancelled = Kind(code: .cancelled)
    /// In no schedule could one job run in place of another, so there was nothing to explore.
    public static let uniform = Kind(code: .uniform)
    /// In every schedule the scenario itself called an actor before a task could that it had just started and that
    /// called the same actor, maybe through others: the other order was never played.
    public static let headStart = Kind(code: .headStart)

    /// The kind's name.
    public var description: String { code.rawValue }
  }

  /// The way in which the schedule failed.
  public let kind: Kind
  /// The schedule's seed, or the first seed if no schedule failed, but all have explored nothing.
  ///
  /// ``replaySchedule(seed:strategy:stepLimit:patience:_:)`` plays it again.
  public let seed: UInt64
  /// The error that the scenario threw, if the kind is ``Kind/threw``.
  public let error: (any Error)?
  /// The tasks that ran, step by step.
  ///
  /// The scenario itself is 0, the other tasks follow in the order of their first jobs. An actor's turn is a step of
  /// the task for which the actor woke; `nil` if that came from another thread.
  public let steps: [Int?]
  /// How many jobs had come from other threads.
  ///
  /// If there are any, the seed does not decide everything, and may not show the failure again.
  public let foreignJobs: Int
  private let strategy: SchedulingStrategy
  private let stepLimit: Int
  private let patience: Duration

  init(
    kind: Kind, seed: UInt64, error: (any Error)? = nil, steps: [Int?] = [], foreignJobs: Int = 0,
    by explorer: Explorer
  ) {
    self.kind = kind
    self.seed = seed
    self.error = error
    self.steps = steps
    self.foreignJobs = foreignJobs
    strategy = explorer.strategy
    stepLimit = explorer.stepLimit
    patience = explorer.patience
  }

  /// What happened, and how to see it again, in a few lines.
  public var description: String {
    switch kind {
    case .cancelled: return "the exploration was cancelled before seed \(seed)"
    case .uniform:
      return """
        no schedule failed, but nothing was explored: whatever the seed, there was never more than one job \
        that could run. What is to compete runs in child tasks (`async let`, a task group) or in tasks that \
        prefer the executor (a plain `Task { }` does not), on a hub that has the executor. To play one \
        schedule only, use `replaySchedule`.
        """
    case .headStart:
      return """
        no schedule failed, but one order was never played: right after it had started tasks, the scenario \
        itself called an actor that one of them calls, and so came first in every schedule. If the call is to \
        compete with them, make it in a child task too; if not, make it before they are started.
        """
    default: break
    }
    let others =
      foreignJobs == 0
      ? ""
      : """

      \(foreignJobs) jobs came from other threads, at times that no seed decides, so this may not \
      show the same.
      """
    return """
      seed \(seed): \(account)
      To play it again: replaySchedule(\(arguments)) with the same scenario.\(others)
      """
  }

  /// As ``description``, without the steps.
  public var debugDescription: String { description }

  /// What plays the schedule again: the seed, and the arguments that are not the default ones.
  private var arguments: String {
    var arguments = ["seed: \(seed)"]
    if strategy != .alternating { arguments.append("strategy: .\(strategy)") }
    if stepLimit != 100_000 { arguments.append("stepLimit: \(stepLimit)") }
    if patience != .zero { arguments.append("patience: \(patience.code)") }
    return arguments.joined(separator: ", ")
  }

  private var waiting: String {
    patience > .zero ? ", and none has come from another thread for \(patience)" : ""
  }

  /// What the scenario threw; an error of `#require` is long, and has been reported as an issue of its own.
  private var threw: String {
    guard let error else { return "the scenario threw an error" }
    if String(reflecting: type(of: error)) == "Testing.ExpectationFailedError" {
      return "`#require` failed, as its own issue says"
    }
    let text = "\(error)"
    return "the scenario threw \(text.prefix(300))\(text.count > 300 ? "…" : "")"
  }

  private var account: String {
    switch kind {
    case .threw:
      "\(threw), after \(steps.count) steps."
    case .stuck:
      """
      the scenario is stuck after \(steps.count) steps: it has not ended, no job is left\(waiting). The likely causes: tasks that wait for each other, or for \
      a continuation that is not resumed; a deadline of a clock that nobody advances (`executor.clock` \
      advances itself); or work that runs elsewhere (a hub or an actor with another executor, a plain \
      `Task { }`, or the main actor, whose thread this call may block; for \
      what comes back from there pass some `patience`).
      """
    default:
      """
      the scenario, or a task that it left behind, has not ended after \(steps.count) steps. Something \
      gives way again and again, as a loop around `Task.yield()` whose condition never holds; if it \
      needs more steps than that, pass a higher `stepLimit`.
      """
    }
  }
}

extension Duration {
  /// The duration as a source file has it.
  fileprivate var code: String {
    let (seconds, attoseconds) = components
    if attoseconds == 0 { return ".seconds(\(seconds))" }
    let units: [(name: String, each: Int64)] = [
      ("milliseconds", 1_000), ("microseconds", 1_000_000), ("nanoseconds", 1_000_000_000),
    ]
    for unit in units {
      let size = 1_000_000_000_000_000_000 / unit.each
      let (count, isTooMuch) = seconds.multipliedReportingOverflow(by: unit.each)
      guard attoseconds.isMultiple(of: size), !isTooMuch else { continue }
      let (sum, isMore) = count.addingReportingOverflow(attoseconds / size)
      if !isMore { return ".\(unit.name)(\(sum))" }
    }
    return "Duration(secondsComponent: \(seconds), attosecondsComponent: \(attoseconds))"
  }
}
