/// Plays a scenario under schedules.
struct Explorer {
  typealias Scenario = @Sendable (SeededExecutor) async throws -> Void

  let strategy: SchedulingStrategy
  let stepLimit: Int
  let patience: Duration
  let scenario: Scenario

  /// Plays schedules up to the first that fails.
  ///
  /// Several schedules without a choice between jobs fail as a whole.
  func explore(_ seeds: some Sequence<UInt64>) throws(ScheduleFailure) -> Exploration {
    var exploration = Exploration()
    var hashes: Set<UInt64> = []
    var (first, hasChosen, headStarts) = (UInt64?.none, false, HeadStarts())
    for seed in seeds {
      if Task.isCancelled { throw ScheduleFailure(kind: .cancelled, seed: seed, by: self) }
      let schedule = try play(seed)
      exploration.schedules += 1
      exploration.steps += schedule.steps.count
      exploration.foreignJobs += schedule.foreignJobs
      hashes.insert(schedule.fingerprint)
      first = first ?? seed
      hasChosen = hasChosen || schedule.hasChosen
      headStarts.merge(schedule.headStarts)
    }
    exploration.distinctSchedules = hashes.count
    if let first, exploration.schedules > 1 {
      // Jobs from other threads come at any time.
      if !hasChosen, exploration.foreignJobs == 0 {
        throw ScheduleFailure(kind: .uniform, seed: first, by: self)
      }
      if headStarts.isSeen {
        throw ScheduleFailure(kind: .headStart, seed: first, by: self)
      }
    }
    return exploration
  }

  /// Plays one schedule to its end.
  func play(_ seed: UInt64) throws(ScheduleFailure) -> Schedule {
    let executor = SeededExecutor(seed: seed)
    var schedule = Schedule(on: executor, strategy: strategy)
    let outcome = Outcome<Void, any Error>()
    let task = Task(executorPreference: executor) { [scenario] in
      do {
        try await scenario(executor)
        outcome.set(.success(()))
      } catch {
        outcome.set(.failure(error))
      }
    }
    let failure = run(&schedule, to: outcome).map { kind in
      ScheduleFailure(
        kind: kind, seed: seed, error: outcome.error, steps: schedule.steps,
        foreignJobs: schedule.foreignJobs, by: self)
    }
    // Cancels or wakes the tasks of a failed schedule, and those that the scenario has left behind.
    if failure != nil { task.cancel() }
    clean(&schedule)
    if let failure { throw failure }
    return schedule
  }

  /// Runs jobs until the scenario has ended and none is left.
  ///
  /// - Returns: what went wrong, if anything.
  private func run(
    _ schedule: inout Schedule, to outcome: Outcome<Void, any Error>
  ) -> ScheduleFailure.Kind? {
    var advances = 0
    while true {
      if outcome.error != nil { return .threw }
      if schedule.steps.count < stepLimit {
        if schedule.runNext() { continue }
      } else if schedule.hasJobs {
        return .endless
      }
      if outcome.result != nil { return outcome.error == nil ? nil : .threw }
      // Tasks elsewhere may sleep again and again, and take no step here.
      if advances == stepLimit { return .endless }
      if schedule.executor.clock.advanceToNextDeadline() {
        advances += 1
        continue
      }
      if !schedule.executor.arrivals.wait(for: patience) { return .stuck }
    }
  }

  private func clean(_ schedule: inout Schedule) {
    schedule.executor.clock.close()
    let limit = schedule.steps.count + Schedule.cleaningSteps
    while schedule.steps.count < limit, schedule.runNext() {}
  }
}

extension Outcome {
  var error: Failure? {
    guard case .failure(let error) = result else { return nil }
    return error
  }
}
