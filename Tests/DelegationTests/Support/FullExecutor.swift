import Dispatch

@testable import Delegation

/// Runs jobs on threads of its own, and can be full: then it takes one, and blocks who brought it.
final class FullExecutor: TaskExecutor {
  private struct State: Sendable {
    /// How many jobs were taken and have not returned.
    var unfinished = 0
    var blockade: Blockade?
  }

  private let queue = DispatchQueue(label: "full", attributes: .concurrent)
  private let state = Lock(State())

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let blockade = state.withLock { state in
      state.unfinished += 1
      return state.blockade.take()
    }
    queue.async {
      job.runSynchronously(on: self.asUnownedTaskExecutor())
      self.state.withLock { $0.unfinished -= 1 }
    }
    blockade?.enter()
  }

  /// Blocks the next one who brings a job.
  func fill(with blockade: Blockade) {
    state.withLock { $0.blockade = blockade }
  }

  /// Gives way to others until all jobs have returned: their tasks wait for something, or are done.
  func rest() async {
    while state.withLock({ $0.unfinished }) > 0 { await Task.yield() }
  }
}
