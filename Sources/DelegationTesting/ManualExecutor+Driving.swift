extension ManualExecutor {
  /// Runs an asynchronous closure to its end, by running this executor's jobs on the calling thread.
  ///
  /// ```swift
  /// let mayEnter = try executor.drive {
  ///   await hub[DoorDelegate.self].vote { await $0.mayEnter("Mallory") }
  /// }
  /// #expect(!mayEnter)
  /// ```
  ///
  /// When it returns, the closure has returned. Jobs of other tasks may be left; ``run(atMost:)``
  /// runs them.
  ///
  /// If no job is left and the closure has not ended, it waits for something that this executor does not run. Then the
  /// clock, if you give one, advances to its next deadline. If no task sleeps by the clock, the closure's task is
  /// cancelled and the call fails. A task that ignores the cancellation runs for 10,000 jobs more, and then stays
  /// suspended until the executor runs again.
  ///
  /// Work that runs elsewhere, for example on a queue, may take part: `patience` says how long to wait for it. The
  /// calling thread is blocked meanwhile. In an asynchronous test that is one of the few threads of Swift's own pool,
  /// so that work should not need the pool: on two cores, two such tests at the same time leave no thread for it.
  ///
  /// **Isolation.** The closure runs on no actor, with the task-locals and the priority of the
  /// caller. On the main thread, the main actor waits until the call returns. So there the closure
  /// must not wait for the main actor.
  ///
  /// **Re-entrancy.** You may call it from a job of the executor. That job then delays the tasks that wait for it.
  ///
  /// **Cancellation.** Cancelling the caller's task has no effect on the closure.
  ///
  /// **Errors.** The error that the closure throws, or a ``DriveFailure``.
  ///
  /// - Parameters:
  ///   - clock: a clock to advance when nothing else can go on.
  ///   - patience: for how long to wait for a job from another thread when none is left. With zero the call fails at
  ///     once.
  ///   - limit: how many jobs to run at most, and how often to advance the clock.
  ///   - fileID: the source file of the call, for the failure's description.
  ///   - line: the line of the call.
  ///   - body: what to do.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws, or a ``DriveFailure``.
  public func drive<Success: Sendable>(
    advancing clock: ManualClock? = nil, patience: Duration = .zero,
    stepLimit limit: Int = 1_000_000, fileID: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable () async throws -> Success
  ) throws -> Success {
    let call = begin(body)
    var steps = 0
    var kind = DriveFailure.Kind.endless
    var advances = 0
    while steps < limit, advances < limit {
      if let result = call.result { return try result.get() }
      if runNext() {
        steps += 1
      } else if clock?.advanceToNextDeadline() ?? false {
        advances += 1
      } else if !jobs.wait(for: patience) {
        kind = .stuck
        break
      }
    }
    // The call's last job may have been the last allowed one, or may have run on another executor.
    if let result = call.result { return try result.get() }
    call.cancel()
    // Runs the jobs that the cancellation has caused. A task that ignores it stays suspended.
    run(atMost: Schedule.cleaningSteps)
    throw DriveFailure(
      kind: kind, steps: steps, patience: patience,
      place: "\(fileID):\(line)")
  }

  /// Starts an asynchronous closure and runs the executor's jobs until none is left.
  ///
  /// When it returns, the closure has ended, or waits for something that has not come yet. So "it has not returned" is
  /// an assertion.
  ///
  /// ```swift
  /// let vote = executor.start {
  ///   await hub[DoorDelegate.self].vote { await $0.mayEnter("Mallory") }
  /// }
  /// #expect(vote.value == false)
  /// ```
  ///
  /// **Isolation.** As with ``drive(advancing:patience:stepLimit:fileID:line:_:)``.
  ///
  /// - Parameter body: what to do.
  /// - Returns: the call, which need not be kept.
  @discardableResult
  public func start<Success: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () async throws(Failure) -> Success
  ) -> Call<Success, Failure> {
    let call = begin(body)
    run()
    return call
  }

  func begin<Success: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () async throws(Failure) -> Success
  ) -> Call<Success, Failure> {
    let outcome = Outcome<Success, Failure>()
    let task = Task(executorPreference: self) {
      do throws(Failure) {
        outcome.set(.success(try await body()))
      } catch {
        outcome.set(.failure(error))
      }
    }
    return Call(outcome: outcome, task: task)
  }

  /// A call that was started by ``start(_:)``.
  public struct Call<Success: Sendable, Failure: Error>: Sendable {
    fileprivate let outcome: Outcome<Success, Failure>
    fileprivate let task: Task<Void, Never>

    /// The result of the call, which may be an error; `nil` as long as it has not ended.
    public var result: Result<Success, Failure>? { outcome.result }

    /// Whether the call has ended.
    public var isOver: Bool { outcome.result != nil }

    /// Cancels the call's task.
    ///
    /// The jobs that this causes run when the executor is told to run.
    public func cancel() { task.cancel() }
  }
}

// In a constrained extension: a getter that throws `Failure` crashes the compiler of 6.3 within an `#expect`.
extension ManualExecutor.Call where Failure == Never {
  /// What the call has returned; `nil` as long as it has not ended.
  public var value: Success? {
    guard case .success(let value) = result else { return nil }
    return value
  }
}

/// The result of a task, for code that does not await it.
final class Outcome<Success: Sendable, Failure: Error>: Sendable {
  private let state = Guarded<Result<Success, Failure>?>(nil)

  var result: Result<Success, Failure>? { state.withLock { $0 } }

  func set(_ result: Result<Success, Failure>) {
    state.withLock { $0 = result }
  }
}
