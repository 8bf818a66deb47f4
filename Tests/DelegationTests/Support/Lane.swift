import Dispatch

@testable import Delegation

/// A serial queue that code can tell it runs on, and that can be held up.
final class Lane: Sendable {
  /// How a lane is held up.
  enum Hold: CaseIterable {
    /// Something runs on it and does not return.
    case blocked
    /// Jobs are taken, and none is run.
    case suspended
  }

  private struct State: Sendable {
    var jobs = 0
    var hold: Hold?
    /// Whether it was released because the test had waited for too long.
    var isOverdue = false
  }

  let queue: DispatchQueue
  /// Reached when it is held up: what comes from then on does not run.
  let isHeld = Gate()
  private let state = Lock(State())
  private let mayGoOn = DispatchSemaphore(value: 0)

  init(_ name: String) {
    queue = MarkedQueue.make(name)
  }

  private init(_ queue: DispatchQueue) {
    self.queue = queue
  }

  /// The main actor's.
  static func main() -> Lane { Lane(MarkedQueue.mark(.main, as: "main")) }

  /// The name of the lane that the present code runs on, "main" or "pool".
  static var current: String {
    MarkedQueue.current == "elsewhere" ? "pool" : MarkedQueue.current
  }

  /// How many jobs its executors were given.
  var jobs: Int { state.withLock { $0.jobs } }

  fileprivate func run(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.jobs += 1 }
    queue.async(execute: body)
  }

  /// Holds it up, behind what was given to it before.
  func hold(_ hold: Hold) {
    state.withLock { $0.hold = hold }
    switch hold {
    case .blocked:
      queue.async {
        self.isHeld.arrive()
        self.mayGoOn.wait()
      }
    case .suspended:
      queue.suspend()
      isHeld.arrive()
    }
    // For the case that what is tested waits for this: else it hangs.
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(InTurn.patience)) { [weak self] in
      guard let self else { return }
      self.state.withLock { $0.isOverdue = true }
      self.release()
    }
  }

  /// Lets it go on.
  ///
  /// - Returns: whether it had been held up to now.
  @discardableResult
  func release() -> Bool {
    let (hold, isOverdue) = state.withLock { state in
      defer { state.hold = nil }
      return (state.hold, state.isOverdue)
    }
    switch hold {
    case .blocked: mayGoOn.signal()
    case .suspended: queue.resume()
    case nil: break
    }
    return hold != nil && !isOverdue
  }
}

/// Tasks can run on it.
extension Lane: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    run { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// Runs an actor on a lane.
final class LaneSerialExecutor: SerialExecutor {
  let lane: Lane

  init(_ lane: Lane) {
    self.lane = lane
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    lane.run { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }
}

/// Runs tasks and an actor on a lane, each as the other, as event loops do.
final class LaneExecutor: TaskExecutor, SerialExecutor {
  let lane: Lane

  init(_ lane: Lane) {
    self.lane = lane
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    lane.run {
      job.runSynchronously(
        isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
    }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }
}
