import Delegation

/// Runs jobs when told to, by hand, in another order than they came, or never.
final class UnreliableExecutor: TaskExecutor {
  fileprivate struct State: Sendable {
    var jobs: [UnownedJob] = []
    var isLosing = false
    var dice: Dice
  }

  private let state: Guarded<State>
  /// Keeps what was lost, whose tasks nobody can end any more, within sight of the leak detector.
  private static let lost = Guarded<[UnownedJob]>([])

  init(seed: UInt64 = 0) {
    state = Guarded(State(dice: Dice(seed: seed)))
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isLost = state.withLock { state in
      if !state.isLosing { state.jobs.append(job) }
      return state.isLosing
    }
    if isLost { Self.lost.withLock { $0.append(job) } }
  }

  /// Loses what comes while something is done.
  func lose(during body: () -> Void) {
    state.withLock { $0.isLosing = true }
    body()
    state.withLock { $0.isLosing = false }
  }

  /// Runs jobs, in any order, until none is left.
  func run() {
    while let job = state.withLock({ $0.takeAny() }) {
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}

extension UnreliableExecutor.State {
  fileprivate mutating func takeAny() -> UnownedJob? {
    jobs.isEmpty ? nil : jobs.remove(at: dice.roll(jobs.count))
  }
}
