/// Chooses the job that comes next, by a strategy and a seed.
struct Chooser: Sendable {
  private let usesPriorities: Bool
  private var dice: Dice
  /// The tasks' priorities, by their numbers.
  private var priorities: [UInt64] = []
  /// The steps at which the highest priority becomes the lowest.
  private var changes: [Int] = []
  /// The priority of the task that was lowered last; those that are drawn are all higher.
  private var lowest: UInt64 = 1 << 32

  private static let mostChanges = 4
  /// The ranges of steps that changes are drawn from, as the length of a schedule is not known.
  private static let spans = [25, 100, 100, 100, 400]

  init(_ strategy: SchedulingStrategy, seed: UInt64) {
    usesPriorities = strategy.resolved(for: seed) == .priorities
    dice = Dice(seed: seed)
    guard usesPriorities else { return }
    let span = Self.spans[dice.roll(Self.spans.count)]
    changes = (0..<dice.roll(Self.mostChanges + 1)).map { _ in 1 + dice.roll(span) }
  }

  /// Chooses the entry that is to run.
  ///
  /// - Parameters:
  ///   - ready: the entries that could, the oldest first; not empty.
  ///   - step: the number of the step, from one on.
  /// - Returns: its position.
  mutating func choose(among ready: [Schedule.Entry], at step: Int) -> Int {
    // With every strategy, no job waits for ever.
    let isOverdue = step - ready[0].arrival > Schedule.patience(among: ready.count)
    guard usesPriorities else {
      return isOverdue || ready.count == 1 ? 0 : dice.roll(ready.count)
    }
    // The task that was preferred to an overdue job for so long gets the lowest priority.
    if isOverdue || changes.contains(step) { lower(ready[highest(among: ready)]) }
    return isOverdue ? 0 : highest(among: ready)
  }

  private mutating func lower(_ entry: Schedule.Entry) {
    lowest -= 1
    if let task = entry.task { priorities[task] = lowest }
  }

  private mutating func highest(among ready: [Schedule.Entry]) -> Int {
    var best = 0
    var bestPriority: UInt64 = 0
    for position in ready.indices {
      let priority = priority(of: ready[position])
      if priority > bestPriority {
        best = position
        bestPriority = priority
      }
    }
    return best
  }

  private mutating func priority(of entry: Schedule.Entry) -> UInt64 {
    // A job of no task has come from another thread, and goes first.
    guard let task = entry.task else { return .max }
    while priorities.count <= task { priorities.append(dice.next() | 1 << 33) }
    return priorities[task]
  }
}
