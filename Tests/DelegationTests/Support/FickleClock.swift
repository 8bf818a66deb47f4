@testable import Delegation

/// A clock that may be out of order.
final class FickleClock: Clock {
  let sound = ManualClock()
  let isBroken = Lock(false)

  var now: ManualClock.Instant { sound.now }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
    if isBroken.withLock({ $0 }) { throw Refusal() }
    try await sound.sleep(until: deadline, tolerance: tolerance)
  }
}
