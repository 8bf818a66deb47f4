import Delegation
import Synchronization

/// The sums of all hubs, for an hour back.
final class PageHistory: Sendable {
  struct Sums {
    let time: Int
    /// Notified, asked, waiting, running, lost, failed and late.
    let values: [Int]

    init(_ statistics: [DelegateHub.Statistics], at time: Int) {
      self.time = time
      var values = [Int](repeating: 0, count: 7)
      for part in statistics.flatMap(\.protocols) {
        let (counts, questions) = (part.counts, part.questions)
        let running = part.subscribers.reduce(0) { $0 + $1.running }
        for (place, value) in [
          counts.handled + counts.failed, questions.asked, counts.waiting, running, counts.lost,
          counts.failed + questions.failed, questions.late,
        ].enumerated() { values[place] += value }
      }
      self.values = values
    }
  }

  /// So many are kept: an hour's, if one comes every ten seconds.
  static let capacity = 360
  private let state = Mutex<[Sums]>([])

  var all: [Sums] { state.withLock { $0 } }

  func add(_ sums: Sums) {
    state.withLock { all in
      all.append(sums)
      if all.count > Self.capacity { all.removeFirst() }
    }
  }
}

extension DelegateHub.Statistics.Counts {
  /// How many notifications nobody will handle: dropped, cancelled, or of a subscriber that died.
  ///
  /// Not those that were passed over: they were not for the subscriber.
  var lost: Int { dropped + cancelled + expired }
}
