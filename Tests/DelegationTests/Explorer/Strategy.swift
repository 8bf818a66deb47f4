/// How the next job is chosen.
struct Strategy: Sendable {
  enum Kind: Sendable, CaseIterable {
    /// Each job that could run is as likely as any other.
    case randomWalk
    /// The task of the highest priority runs; priorities are drawn at random, and at a few steps that
    /// are drawn at random too, the highest becomes the lowest.
    ///
    /// "Probabilistic concurrency testing": a fault that takes *d* ordering constraints to show is
    /// found with a probability of at least 1 in *n* × *k* to the power of *d* - 1, for *n* tasks and
    /// *k* steps.
    case priorities
  }

  private let kind: Kind
  private var dice: Dice
  /// The tasks' priorities, by their ordinals.
  private var priorities: [UInt64] = []
  /// The steps at which the highest priority becomes the lowest.
  private var changes: [Int] = []
  private var step = 0
  private var lowest: UInt64 = 1 << 32

  /// How many steps a schedule takes, about.
  private static let usualSteps = 100
  private static let mostChanges = 4

  init(_ kind: Kind, seed: UInt64) {
    self.kind = kind
    dice = Dice(seed: seed)
    guard kind == .priorities else { return }
    changes = (0..<dice.roll(Self.mostChanges + 1)).map { _ in dice.roll(Self.usualSteps) }
  }

  /// The position of the entry that is to run.
  mutating func choose(among ready: [Explorer.Entry]) -> Int {
    step += 1
    switch kind {
    case .randomWalk:
      return ready.count == 1 ? 0 : Int(dice.next() % UInt64(ready.count))
    case .priorities:
      if changes.contains(step) {
        lowest -= 1
        let first = highest(among: ready)
        priorities[ready[first].task] = lowest
      }
      return highest(among: ready)
    }
  }

  private mutating func highest(among ready: [Explorer.Entry]) -> Int {
    var best = 0
    var bestPriority: UInt64 = 0
    for position in ready.indices {
      let task = ready[position].task
      while priorities.count <= task { priorities.append(dice.next() | 1 << 33) }
      if priorities[task] > bestPriority {
        best = position
        bestPriority = priorities[task]
      }
    }
    return best
  }
}
