import Synchronization

/// Where threads meet before each round, so that they begin it at once.
///
/// On a machine that is busy with other things threads that wait for each other get little of it, and
/// seldom run at once: a hundred thousand rounds would take hours there and find nothing. The rounds
/// therefore end when there have been enough, or after some time, the first two excepted.
final class Meeting: Sendable {
  private let size: Int
  private let end: ContinuousClock.Instant
  private let arrivals = Atomic<Int>(0)
  /// The first round that does not take place, once somebody has found that the time is up.
  ///
  /// It is set before its meeting, so all who have met see the same.
  private let closing = Atomic<Int>(.max)

  init(of size: Int, within duration: Duration = Effort.timeOfARace) {
    self.size = size
    end = .now + duration
  }

  /// Arrives, and waits for the others to arrive at the same round.
  ///
  /// - Parameter round: the number of rounds before this one.
  /// - Returns: whether it takes place. If not, then for nobody, and no other one does.
  @discardableResult
  func await(_ round: Int) -> Bool {
    if round > 1, ContinuousClock.now >= end {
      // Whoever sets it for an earlier round has not met anybody at that one yet.
      closing.min(round, ordering: .sequentiallyConsistent)
    }
    arrivals.add(1, ordering: .sequentiallyConsistent)
    var looks = 0
    while arrivals.load(ordering: .sequentiallyConsistent) < (round + 1) * size {
      looks += 1
      // On a machine with one free core the other one needs this one's.
      if looks > 1000 { Threads.pause() }
    }
    return round < closing.load(ordering: .sequentiallyConsistent)
  }
}
