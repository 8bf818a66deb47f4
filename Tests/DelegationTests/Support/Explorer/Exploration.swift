import Foundation
import Testing

/// Plays many schedules, and tells of the first that goes wrong.
struct Exploration {
  /// What came of it.
  struct Report: Sendable {
    var schedules = 0
    /// How many were different from all others.
    var distinct = 0
    /// How many jobs were run.
    var steps = 0
    /// How many schedules other tests' threads have taken part in.
    var disturbed = 0
    /// What went wrong, where, and how it came to that.
    var failure: String?
  }

  /// The outcome of one schedule.
  struct Play {
    var violation: Model.Violation?
    let script: Script
    let model: Model
    let history: History
    let steps: Int
    let isDisturbed: Bool

    /// The script and what happened, as lines.
    var trace: String { "\(script.lines)\n\(history.lines(naming: model.describe))" }
  }

  let theme: Script.Theme
  let strategy: Strategy.Kind

  /// That many schedules of each script are tried.
  private static let schedulesOfOneScript: UInt64 = 16

  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment["DELEGATION_\(name)"].flatMap(UInt64.init)
  }

  /// Plays this suite's part of the schedules.
  ///
  /// - Parameter share: how many of the usual number are this suite's.
  func run(share: Int) async -> Report {
    if let seed = Self.number("SEED") { return await onThread { run([seed], tracing: true) } }
    let first = Self.number("FIRST_SEED") ?? 1
    let wanted = Self.number("SCHEDULES").map { Int($0) * share / Self.usualCount } ?? share
    return await onThread { run(first..<first + UInt64(max(1, wanted)), tracing: false) }
  }

  /// How many schedules all suites try together if nobody asks for another number.
  static let usualCount = 102_000

  private func run(_ seeds: some Sequence<UInt64>, tracing: Bool) -> Report {
    var report = Report()
    var hashes: Set<UInt64> = []
    var first: UInt64?
    for seed in seeds {
      first = first ?? seed
      let play = play(seed)
      report.schedules += 1
      report.steps += play.steps
      hashes.insert(play.history.hash)
      if play.isDisturbed { report.disturbed += 1 }
      if tracing { print(play.trace) }
      guard let violation = play.violation else { continue }
      report.failure = """
        guarantee \(violation.guarantee), schedule \(report.schedules) of seed \(first ?? seed): \
        \(violation.text)
        to see it again: DELEGATION_SEED=\(seed) swift test --filter Explorer
        \(play.trace)
        """
      break
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
    let explorer = Explorer(Strategy(strategy, seed: seed))
    let scenario = Scenario(script, on: explorer, seed: seed, lifetimes: lifetimes)
    defer { scenario.end() }
    let violation = scenario.play()
    return Play(
      violation: violation, script: script, model: scenario.model, history: scenario.history,
      steps: explorer.steps, isDisturbed: explorer.foreignJobs > 0)
  }

  /// Does something on a thread of its own: those of the pool are for the other tests.
  private func onThread<Result: Sendable>(
    _ body: @escaping @Sendable () -> Result
  ) async -> Result {
    await withCheckedContinuation { continuation in
      let thread = Thread { continuation.resume(returning: body()) }
      thread.stackSize = 4 << 20
      thread.start()
    }
  }
}
