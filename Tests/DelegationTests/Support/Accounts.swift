import Testing

@testable import Delegation

extension DelegateHub {
  /// A hub whose settings are changed by a closure.
  init(_ change: (inout Configuration) -> Void) {
    var configuration = Configuration()
    change(&configuration)
    self.init(configuration)
  }

  /// What has become of all notifications, of which none may be missing.
  nonisolated func accounts() async -> Statistics.Counts {
    let statistics = await statistics()
    #expect(statistics.counts.addressed == statistics.addressed, "\(statistics)")
    return statistics.counts
  }

  /// What has become of all questions, when all have come to an end.
  nonisolated func questions() async -> Statistics.Questions { await statistics().questions }
}

extension Stage {
  /// What has become of all notifications, of which none may be missing.
  var accounts: DelegateHub.Statistics.Counts? { perform { await $0.accounts() } }

  /// The same as the library keeps it inside.
  var account: Account? { accounts }
}
