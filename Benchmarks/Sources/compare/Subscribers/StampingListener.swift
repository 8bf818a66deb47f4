import Synchronization

/// A listener that notes when it was called.
///
/// So a latency ends in the handler and not where the poster's task gets its thread back.
final class StampingListener: Listener {
  private let stamp = Atomic<UInt64>(0)
  private let end: Countdown

  /// Makes one.
  ///
  /// - Parameter end: what is told of each call.
  init(end: Countdown) { self.end = end }

  /// When it was called last.
  var calledAt: UInt64 { stamp.load(ordering: .acquiring) }

  func didPerform(_ request: Request) {
    stamp.store(now(), ordering: .releasing)
    end.arrive()
  }
}
