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
    #expect(statistics.counts.total == statistics.addressed, "\(statistics)")
    return statistics.counts
  }

  /// What has become of all questions, when all have come to an end.
  nonisolated func questions() async -> Statistics.Questions { await statistics().questions }
}

extension Stage {
  /// What has become of all notifications, of which none may be missing.
  var accounts: DelegateHub.Statistics.Counts? { perform { await $0.accounts() } }

  /// The same as the library keeps it inside.
  var account: Account? { accounts?.account }
}

extension DelegateHub.Statistics.Counts {
  /// Counts that a test expects.
  init(
    handled: Int = 0, failed: Int = 0, expired: Int = 0, dropped: Int = 0, cancelled: Int = 0,
    passedOver: Int = 0, waiting: Int = 0, handling: Int = 0
  ) {
    self.init(
      account: Account(
        handled: handled, failed: failed, expired: expired, dropped: dropped,
        cancelled: cancelled, passedOver: passedOver, waiting: waiting, handling: handling))
  }
}

extension DelegateHub.Statistics.Questions {
  /// Counts that a test expects.
  init(
    answered: Int = 0, failed: Int = 0, late: Int = 0, abandoned: Int = 0, answering: Int = 0
  ) {
    self.init(
      account: QuestionAccount(
        answered: answered, failed: failed, late: late, abandoned: abandoned,
        answering: answering))
  }
}
