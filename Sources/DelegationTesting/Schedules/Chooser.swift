/// Chooses the job that comes next, by a strategy and a seed.
struct Chooser: Sendable {
  private let usesPriorities: Bool
  private var dice: Dice
  /// The tasks' priorities, by their numbers.
  private var priorities: [UInt64] = []
  /// The entries that could run, and some that have run; their priorities may have been lowered since.
  private var candidates = Heap<Candidate>()
  /// The steps at which the highest priority becomes the lowest.
  private var changes: [Int] = []
  /// The priority of the task that was lowered last; the priorities that are drawn are all higher.
  private var lowest: UInt64 = 1 << 32

  private static let mostChanges = 4
  /// The ranges from which the steps of changes are drawn: the length of a schedule is not known.
  private static let spans = [25, 100, 100, 100, 400]

  init(_ strategy: SchedulingStrategy, seed: UInt64) {
    usesPriorities = strategy.resolved(for: seed) == .priorities
    dice = Dice(seed: seed)
    guard usesPriorities else { return }
    let span = Self.spans[dice.roll(Self.spans.count)]
    changes = (0..<dice.roll(Self.mostChanges + 1)).map { _ in 1 + dice.roll(span) }
  }

  /// Notes a job that could run.
  mutating func add(_ entry: Schedule.Entry) {
    guard usesPriorities else { return }
    candidates.insert(candidate(entry))
  }

  /// Chooses the entry that is to run.
  ///
  /// - Parameters:
  ///   - ready: the entries that could run; not empty.
  ///   - step: the number of the step, from 1.
  /// - Returns: the entry's number.
  mutating func choose(among ready: ReadyJobs, at step: Int) -> Int {
    // With every strategy, no job waits for ever.
    let isOverdue = ready[ready.oldest].map { step - $0.arrival > $0.patience } ?? false
    guard usesPriorities else {
      return isOverdue || ready.count == 1
        ? ready.oldest : ready.number(at: dice.roll(ready.count))
    }
    // A task that was preferred for so long to an overdue job gets the lowest priority.
    if isOverdue || changes.contains(step) { lower(highest(among: ready).task) }
    return isOverdue ? ready.oldest : highest(among: ready).number
  }

  private mutating func lower(_ task: Int?) {
    lowest -= 1
    if let task { priorities[task] = lowest }
  }

  /// The entry with the highest priority; of several, the oldest.
  private mutating func highest(among ready: ReadyJobs) -> Schedule.Entry {
    while let candidate = candidates.values.first {
      if let entry = ready[candidate.number] {
        let now = self.candidate(entry)
        if now == candidate { return entry }
        // Its task has been lowered since.
        candidates.removeFirst()
        candidates.insert(now)
      } else {
        candidates.removeFirst()
      }
    }
    fatalError("No job is ready.")
  }

  private mutating func candidate(_ entry: Schedule.Entry) -> Candidate {
    Candidate(priority: priority(of: entry), number: entry.number)
  }

  /// An entry's rank among those that could run; the highest priority is the least.
  private struct Candidate: Comparable, Sendable {
    let priority: UInt64
    let number: Int

    static func < (lhs: Candidate, rhs: Candidate) -> Bool {
      (rhs.priority, lhs.number) < (lhs.priority, rhs.number)
    }
  }

  private mutating func priority(of entry: Schedule.Entry) -> UInt64 {
    // A job of no task has come from another thread, and goes first.
    guard let task = entry.task else { return .max }
    while priorities.count <= task { priorities.append(dice.next() | 1 << 33) }
    return priorities[task]
  }
}
