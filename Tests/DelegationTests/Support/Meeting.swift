import Synchronization

/// Where threads meet before each round, so that they begin it at once.
final class Meeting: Sendable {
  private let size: Int
  private let arrivals = Atomic<Int>(0)

  init(of size: Int) {
    self.size = size
  }

  /// Arrives, and waits for the others to arrive at the same round.
  ///
  /// - Parameter round: the number of rounds before this one.
  func await(_ round: Int) {
    arrivals.add(1, ordering: .sequentiallyConsistent)
    var looks = 0
    while arrivals.load(ordering: .sequentiallyConsistent) < (round + 1) * size {
      looks += 1
      // On a machine with one free core the other one needs this one's.
      if looks > 1000 { Threads.pause() }
    }
  }
}
