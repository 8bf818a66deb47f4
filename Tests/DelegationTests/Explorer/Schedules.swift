/// Plays schedules of one kind.
struct Schedules {
  /// What came of many schedules.
  struct Report: CustomStringConvertible {
    var name = ""
    var schedules = 0
    /// How many were different from all others.
    var distinct = 0
    /// How many jobs were run.
    var jobs = 0
    /// What went wrong, where, and how it came to that.
    var failure: String?

    var description: String {
      "explorer, \(name): \(schedules) schedules, \(distinct) of them distinct, \(jobs) jobs"
    }
  }

  /// The outcome of one schedule.
  struct Play {
    var violation: Model.Violation?
    let script: Script
    let model: Model
    let history: History
    let jobs: Int

    /// The script and what happened, as lines.
    var trace: String { "\(script.lines)\n\(history.lines(naming: model.describe))" }
  }

  let theme: Script.Theme
  let strategy: SchedulingStrategy

  init(_ theme: Script.Theme, _ strategy: SchedulingStrategy) {
    self.theme = theme
    self.strategy = strategy
  }

  /// That many schedules of each script are tried.
  static let schedulesOfOneScript: UInt64 = 16
  /// How many schedules of each kind are tried in a usual run; see ``Effort``.
  static let usualCount = 1_000

  /// Plays this kind's share of the schedules, up to the first that goes wrong.
  ///
  /// - Returns: what came of it.
  func run() -> Report {
    if let seed = Effort.onlySeed { return run([seed], tracing: true) }
    return run(seeds(Self.usualCount), tracing: false)
  }

  private func run(_ seeds: some Collection<UInt64>, tracing: Bool) -> Report {
    var report = Report(name: "\(theme), \(strategy)")
    var hashes: Set<UInt64> = []
    for seed in seeds where report.failure == nil {
      let play = play(seed)
      report.schedules += 1
      report.jobs += play.jobs
      hashes.insert(play.history.hash)
      if tracing { print(play.trace) }
      guard let violation = play.violation else { continue }
      report.failure = """
        guarantee \(violation.guarantee), schedule \(report.schedules) of seed \
        \(seeds.first ?? seed): \(violation.text)
        explorer, \(report.name); to see it again: DELEGATION_SEED=\(seed) swift test --filter Explorer
        \(play.trace)
        """
    }
    report.distinct = hashes.count
    return report
  }

  /// Plays one schedule.
  func play(_ seed: UInt64) -> Play {
    let lifetimes = Lifetimes()
    var play = play(seed, lifetimes)
    if play.violation == nil, lifetimes.alive > 0 {
      play.violation = .init(
        guarantee: 4, text: "\(lifetimes.alive) subscribers outlive everything")
    }
    return play
  }

  private func play(_ seed: UInt64, _ lifetimes: Lifetimes) -> Play {
    let script = Script(theme, seed: seed / Self.schedulesOfOneScript)
    let explorer = Explorer(strategy, seed: seed)
    let scenario = Scenario(script, on: explorer, seed: seed, lifetimes: lifetimes)
    defer { scenario.end() }
    let violation = scenario.play()
    return Play(
      violation: violation, script: script, model: scenario.model, history: scenario.history,
      jobs: explorer.steps)
  }
}
