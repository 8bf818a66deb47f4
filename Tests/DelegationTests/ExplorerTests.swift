import Testing

@testable import Delegation

/// Serialized, because the waits of all hubs are in one list: what one explorer lets go on by mistake
/// would be found by another.
@Suite("Explorer", .serialized)
struct ExplorerTests {
  @Test(
    "no schedule breaks a guarantee", arguments: Script.Theme.allCases, Strategy.Kind.allCases)
  func schedules(theme: Script.Theme, strategy: Strategy.Kind) async {
    let share = Exploration.usualCount / 6
    let report = await Exploration(theme: theme, strategy: strategy).run(share: share)
    if let failure = report.failure { Issue.record("\(failure)") }
    print(
      "explorer: \(theme), \(strategy): \(report.schedules) schedules, \(report.distinct) distinct, "
        + "\(report.steps) jobs, \(report.disturbed) disturbed")
  }
}
