@testable import Delegation

/// Runs each job at once, on a thread of its own, while the one who asked for it waits.
///
/// So what a caller sees when it is let go on is what there is at that very moment, and whoever let it
/// go on under a lock that the caller needs would wait for ever.
final class PromptExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Threads.run(1) { _ in job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
