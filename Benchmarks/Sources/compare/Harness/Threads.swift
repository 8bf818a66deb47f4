import Dispatch
import Foundation
import Synchronization

/// Threads that do something at once, more than there are cores if need be.
///
/// They belong to no pool, so that a poster is a thread that the kernel may interrupt anywhere. They sleep between two
/// pieces of work, so that starting them is not measured.
final class Threads: Sendable {
  /// What a thread does, told which of them it is.
  typealias Work = @Sendable (_ index: Int) -> Void

  /// What the threads keep, so that they do not keep the owner.
  private final class Shared: Sendable {
    let work = Mutex<Work?>(nil)
    let starts: [DispatchSemaphore]
    let end = Countdown()

    init(_ count: Int) { starts = (0..<count).map { _ in DispatchSemaphore(value: 0) } }

    /// Has each thread do something, or end if it is `nil`.
    func begin(_ work: Work?) {
      self.work.withLock { $0 = work }
      for start in starts { start.signal() }
    }

    /// A thread's whole life.
    func run(_ index: Int) {
      while true {
        starts[index].wait()
        guard let work = work.withLock({ $0 }) else { return }
        work(index)
        end.arrive()
      }
    }
  }

  /// How many there are.
  let count: Int
  private let shared: Shared

  /// Starts them.
  ///
  /// - Parameter count: how many.
  init(_ count: Int) {
    let shared = Shared(count)
    self.count = count
    self.shared = shared
    for index in 0..<count {
      Thread.detachNewThread { shared.run(index) }
    }
  }

  deinit { shared.begin(nil) }

  /// Has each of them do something, and returns when all have.
  ///
  /// One call at a time.
  ///
  /// - Parameter work: what each does, told which of them it is.
  func together(_ work: @escaping Work) async {
    shared.end.start(count)
    shared.begin(work)
    await shared.end.wait()
  }
}
