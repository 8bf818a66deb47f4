import Dispatch
import Foundation

@testable import Delegation

/// Runs jobs on a fixed number of threads of its own, which live as long as the process.
///
/// For handlers that block their thread: what they take is not taken from other tests.
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

/// Runs each job at once, on a thread of its own, while the caller that asked for it waits.
///
/// So what a caller sees when it goes on is what there is at that very moment, and resuming it under a lock that it needs
/// would never end.
final class PromptExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Threads.run(1) { _ in job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// Blocks a thread until the test ends that, or for so long that the test has failed.
final class Blockade: Sendable {
  private let mayGoOn = DispatchSemaphore(value: 0)
  private let entered = Gate()
  private let timedOut = Lock(false)

  /// Blocks the thread.
  func enter() {
    entered.arrive()
    // A bound for the case that what is tested waits for this; otherwise nobody waits for it to pass.
    if mayGoOn.wait(timeout: .now() + .seconds(InTurn.patience)) == .timedOut {
      timedOut.withLock { $0 = true }
    }
  }

  /// Waits until a thread is blocked.
  func entry() async { await entered.arrivals() }

  /// Lets the thread go on.
  ///
  /// - Returns: whether it had been blocked up to now.
  func end() -> Bool {
    mayGoOn.signal()
    return timedOut.withLock { !$0 }
  }
}
