import Testing

import Delegation

@Suite("Explorer", .inTurn(.heavy))
struct ExplorerTests {
  @Test("no schedule breaks a guarantee", arguments: Script.Theme.allCases)
  func schedules(theme: Script.Theme) async {
    // To read what a process writes takes a thread of the pool from all other tests, as long as it runs.
    let observed: [any PartialKeyPath<ExitTest.Result> & Sendable] =
      Effort.onlySeed == nil ? [] : [\.standardOutputContent]
    let result = await #expect(processExitsWith: .success, observing: observed) { [theme] in
      for strategy in Explorer.strategies {
        let report = Schedules(theme, strategy).run()
        print(report)
        if let failure = report.failure { Issue.record("\(failure)") }
      }
    }
    print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self), terminator: "")
  }

  @Test("a seed plays the same schedule again", arguments: Script.Theme.allCases)
  func replay(theme: Script.Theme) async {
    await #expect(processExitsWith: .success) { [theme] in
      for strategy in Explorer.strategies {
        let schedules = Schedules(theme, strategy)
        for seed in seeds(20) {
          let (one, other) = (schedules.play(seed), schedules.play(seed))
          #expect(one.trace == other.trace, "\(strategy), \(seed)")
        }
      }
    }
  }
}
