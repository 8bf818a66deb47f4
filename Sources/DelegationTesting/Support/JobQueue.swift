#if canImport(Dispatch)
  internal import Dispatch
#endif

/// Jobs from any thread, in the order in which they came.
final class JobQueue<Job: Sendable>: Sendable {
  private struct State: Sendable {
    var jobs: ArraySlice<Job> = []
    /// How many threads sleep until a job comes.
    ///
    /// Each thread is sent one signal, or ends its own count when it gives up.
    var sleepers = 0
  }

  private let state = Guarded(State())
  #if canImport(Dispatch)
    private let signal = DispatchSemaphore(value: 0)
  #endif

  init() {}

  var count: Int { state.withLock { $0.jobs.count } }

  func append(_ job: Job) {
    let isAwaited = state.withLock { state in
      state.jobs.append(job)
      guard state.sleepers > 0 else { return false }
      state.sleepers -= 1
      return true
    }
    #if canImport(Dispatch)
      if isAwaited { signal.signal() }
    #endif
  }

  func popFirst() -> Job? {
    state.withLock { $0.jobs.popFirst() }
  }

  func takeAll() -> ArraySlice<Job> {
    state.withLock { state in
      defer { state.jobs = [] }
      return state.jobs
    }
  }

  /// Blocks the thread until there is a job.
  ///
  /// - Parameter patience: for how long at most.
  /// - Returns: whether there is one.
  func wait(for patience: Duration) -> Bool {
    #if canImport(Dispatch)
      guard patience > .zero else { return count > 0 }
      let isEmpty = state.withLock { state in
        if state.jobs.isEmpty { state.sleepers += 1 }
        return state.jobs.isEmpty
      }
      guard isEmpty, signal.wait(timeout: Self.time(after: patience)) == .timedOut else {
        return true
      }
      let isSignalled = state.withLock { state in
        if state.sleepers == 0 { return true }
        state.sleepers -= 1
        return false
      }
      // The signal was sent while this thread gave up: consumed here, it does not wake the next thread.
      if isSignalled { signal.wait() }
    #endif
    // Without Dispatch there are no threads that a job could come from.
    return count > 0
  }

  #if canImport(Dispatch)
    private static func time(after duration: Duration) -> DispatchTime {
      let (seconds, attoseconds) = duration.components
      guard seconds < 1 << 31 else { return .distantFuture }
      return .now() + .nanoseconds(Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
    }
  #endif
}
