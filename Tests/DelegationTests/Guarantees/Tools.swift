import Testing

@testable import Delegation

// What the suites of the guarantees and faults share. The only file of theirs that sees the inside.

extension DelegateHub {
  nonisolated var listeners: Delegates<any Listener> { self[Listener.self] }
  nonisolated var bystanders: Delegates<any Bystander> { self[Bystander.self] }

  /// What has become of all notifications, of which none may be missing.
  nonisolated var counted: Statistics.Counts {
    let statistics = statistics()
    #expect(statistics.counts.addressed == statistics.addressed, "\(statistics)")
    return statistics.counts
  }

  /// A hub by a clock that is moved by hand, on threads.
  init(_ clock: ManualClock, on executor: (any TaskExecutor)? = nil) {
    self.init(.init(executor: executor, clock: clock, onIncident: { _ in }))
  }
}

/// What may have become of notifications.
func counts(
  handled: Int = 0, failed: Int = 0, expired: Int = 0, dropped: Int = 0, cancelled: Int = 0,
  passedOver: Int = 0, waiting: Int = 0, handling: Int = 0
) -> DelegateHub.Statistics.Counts {
  .init(
    handled: handled, failed: failed, expired: expired, dropped: dropped, cancelled: cancelled,
    passedOver: passedOver, waiting: waiting, handling: handling)
}

extension DelegateHub.Subscription {
  /// Sees whether the hub has released what it keeps of the subscription.
  var obituary: Obituary { Obituary(of: node) }
}

extension DelegateHub.Reply {
  var error: (any Error)? {
    if case .failure(let error) = result { error } else { nil }
  }
}

extension Stage {
  var counted: DelegateHub.Statistics.Counts { hub.counted }
  var listeners: Delegates<any Listener> { hub.listeners }

  /// Whether the hub is drained at once.
  var isDrained: Bool { perform { await $0.drain().isEmpty } == true }
}

/// A value that several threads change, under the library's lock: the thread sanitizer does not see others.
final class Guarded<Value: Sendable>: Sendable {
  private let lock: Lock<Value>

  init(_ value: Value) { lock = Lock(value) }

  func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { lock.withLock(body) }

  /// Takes the value out, and releases nothing under the lock.
  func take<Wrapped: Sendable>() -> Wrapped? where Value == Wrapped? { lock.withLock { $0.take() } }
}
