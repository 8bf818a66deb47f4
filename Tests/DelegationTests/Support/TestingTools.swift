// The tools that the library gives to its users' tests, for all files of these tests.
@_exported import DelegationTesting

extension DelegateHub {
  /// A hub that works only when told to, by the system's clock.
  init(on executor: any TaskExecutor) {
    var configuration = Configuration()
    configuration.executor = executor
    self.init(configuration)
  }
}

extension ManualExecutor {
  /// How many jobs wait to be run.
  var pending: Int { pendingJobs }
}

extension ManualClock {
  /// Waits until that many are asleep, and gives the times for which they set the alarm.
  func alarms(_ count: Int = 1) async -> [Duration] {
    await waitForSleepers(count)
    return deadlines.map(\.offset)
  }
}

extension Recorder {
  /// All events so far.
  var history: [Event] { events }

  /// Waits until there are that many events.
  func history(of count: Int) async -> [Event] { await events(atLeast: count) }
}
