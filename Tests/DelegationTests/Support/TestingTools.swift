// The tools that the library gives to its users' tests, for all files of these tests, and short forms for them.
@_exported import DelegationTesting
import Testing

@testable import Delegation

extension DelegateHub {
  /// A hub whose settings are changed by a closure.
  init(_ change: (inout Configuration) -> Void) {
    var configuration = Configuration()
    change(&configuration)
    self.init(configuration)
  }

  /// A hub that works only when told to, by the system's clock.
  init(on executor: any TaskExecutor) { self.init { $0.executor = executor } }
}

extension DelegateHub.Configuration {
  /// Tells of the incidents of one kind.
  mutating func on(
    _ kind: DelegateHub.Incident.Kind, _ tell: @escaping @Sendable (DelegateHub.Incident) -> Void
  ) {
    onIncident = { if $0.kind == kind { tell($0) } }
  }
}

extension DelegateHub.Incident {
  /// What the handler gave as its reason.
  var reason: String { error.map { ($0 as? Refusal)?.reason ?? "\($0)" } ?? "" }
}

/// What tests throw.
struct Refusal: Error, Hashable {
  var reason = ""
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

  /// Gives way to others until nobody sleeps, which is bound to happen.
  func silence() async {
    while sleepers > 0 { await Task.yield() }
  }
}

extension Recorder {
  /// All events so far.
  var history: [Event] { events }

  /// Waits until there are that many events.
  func history(of count: Int) async -> [Event] { await events(atLeast: count) }
}

extension Task where Failure == Never {
  /// Whether it has not ended after others have had their turns.
  var isWaiting: Bool { get async { await !isDone } }

  /// Whether it has ended.
  var isDone: Bool {
    get async {
      let done = Gate()
      Task<Void, Never> {
        _ = await value
        done.arrive()
      }
      for _ in 0..<50 { await Task<Never, Never>.yield() }
      return done.arrived > 0
    }
  }
}
