import Foundation

/// Runs jobs on a fixed number of threads of its own.
///
/// For handlers that block their thread: what they take is not taken from other tests. Its threads
/// live as long as the process.
///
/// `@unchecked Sendable`: `jobs` is used only under `condition`.
final class ThreadPool: TaskExecutor, @unchecked Sendable {
  private let condition = NSCondition()
  private var jobs: [UnownedJob] = []

  init(threads: Int) {
    for _ in 0..<threads {
      let thread = Thread { self.work() }
      thread.stackSize = 2 << 20
      thread.start()
    }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    condition.withLock {
      jobs.append(job)
      condition.signal()
    }
  }

  private func work() {
    while true {
      let job = condition.withLock {
        while jobs.isEmpty { condition.wait() }
        return jobs.removeFirst()
      }
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
