import Delegation
import Foundation

/// Says how far it is, on standard error.
enum Reporter {
  /// Begins to say so.
  ///
  /// - Parameters:
  ///   - world: what is watched.
  ///   - interval: how often.
  /// - Returns: the task, to be cancelled.
  static func start(_ world: World, every interval: Duration) -> Task<Void, Never> {
    Task {
      let start = ContinuousClock.now
      while true {
        do { try await Task.sleep(for: interval) } catch { return }
        let counts = await world.hub.statistics().counts
        let seconds = Int((ContinuousClock.now - start) / .seconds(1))
        let line =
          "\(seconds) s: \(world.tally.posted.grouped) posted, "
          + "\((counts.handled + counts.failed).grouped) handled, "
          + "\(counts.waiting.grouped) waiting, \(world.population.grouped) subscribers, "
          + "\(Memory.peak / 1_000_000) MB at most\n"
        FileHandle.standardError.write(Data(line.utf8))
      }
    }
  }
}

/// The process's memory.
enum Memory {
  /// The most bytes that were ever resident.
  static var peak: Int {
    var usage = rusage()
    #if canImport(Darwin)
      getrusage(RUSAGE_SELF, &usage)
      return usage.ru_maxrss
    #else
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
      return usage.ru_maxrss * 1024
    #endif
  }
}

extension Int {
  /// With a comma after every third digit.
  var grouped: String {
    let digits = String(magnitude)
    let groups = stride(from: digits.count, to: 0, by: -3).map { end in
      digits.dropLast(digits.count - end).suffix(3)
    }
    return (self < 0 ? "-" : "") + groups.reversed().joined(separator: ",")
  }
}
