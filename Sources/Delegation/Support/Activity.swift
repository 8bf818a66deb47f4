internal import Synchronization

/// How many workers a hub has, those on their way included, and whether somebody waits for them.
///
/// Invariant: while a notification waits or a handler runs, at least one worker is counted. A worker
/// is counted from the moment it is asked for.
final class Activity: Sendable {
  private enum Bits {
    static let awaited: UInt = 1
    static let worker: UInt = 2
  }

  private let word = Atomic<UInt>(0)

  /// How many workers there are.
  var workers: Int { Int(word.load(ordering: .sequentiallyConsistent) / Bits.worker) }

  /// Whether somebody waits.
  var isAwaited: Bool { word.load(ordering: .sequentiallyConsistent) & Bits.awaited != 0 }

  /// Counts a worker.
  func begin() {
    word.wrappingAdd(Bits.worker, ordering: .sequentiallyConsistent)
  }

  /// Counts a worker off.
  ///
  /// - Returns: whether somebody waits for that.
  func end() -> Bool {
    word.wrappingSubtract(Bits.worker, ordering: .sequentiallyConsistent).oldValue & Bits.awaited
      != 0
  }

  /// Makes ``end()`` tell.
  ///
  /// Called under the lock of the waits, as is ``stopAnnouncing()``.
  func announceEnds() {
    word.bitwiseOr(Bits.awaited, ordering: .sequentiallyConsistent)
  }

  func stopAnnouncing() {
    word.bitwiseAnd(~Bits.awaited, ordering: .sequentiallyConsistent)
  }
}
