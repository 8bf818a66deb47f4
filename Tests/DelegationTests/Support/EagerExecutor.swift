import Dispatch

/// Runs a job at once if it is asked for where its jobs run, as the wrappers of many event loops do.
final class EagerExecutor: TaskExecutor {
  private let queue = MarkedQueue.make("eager")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if MarkedQueue.current == "eager" {
      job.runSynchronously(on: asUnownedTaskExecutor())
    } else {
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }
}
