/// Plays a scenario under many schedules of all its tasks, up to the first that fails.
///
/// Each seed is one schedule: the scenario's tasks run one job at a time on the calling thread, and the seed decides
/// which job comes next. The same seed always decides the same. So you can look at a fault again and again, even if it
/// shows in one schedule of thousands.
///
/// ```swift
/// try exploreSchedules(seeds: 0..<10_000) { executor in
///   let hub = DelegateHub(on: executor, clock: executor.clock)
///   hub.subscribe(Bouncer(), to: DoorDelegate.self, hold: .strongly)
///   async let alice = hub[DoorDelegate.self].vote { await $0.mayEnter("Alice") }
///   async let bob = hub[DoorDelegate.self].vote { await $0.mayEnter("Bob") }
///   let admitted = await [alice, bob]
///   try #require(admitted.contains(true) && admitted.contains(false))
/// }
/// ```
///
/// ``SeededExecutor`` describes what takes part in the schedule. Work on other executors may take part in
/// the scenario if there is `patience` for it, but its jobs come at times that no seed decides:
/// ``Exploration/foreignJobs`` counts them.
///
/// A scenario fails by throwing, an error of your own or by `#require`. A failed `#expect` is recorded as an issue of
/// the test, but without the seed, and the exploration goes on: give it `"seed \(executor.seed)"` as its comment.
///
/// A scenario makes everything anew: its hub, its subscribers, its actors. The seed does not decide
/// what a scenario keeps from one schedule to the next, random numbers, a clock that runs by
/// itself, or the order of a `Set` or `Dictionary`.
///
/// When the scenario has ended, the jobs that are left on the executor run too. Then tasks that still sleep by
/// ``SeededExecutor/clock`` are woken as if they were cancelled. A scenario that is stuck or does not end is cancelled.
/// Tasks that ignore that, for instance in a loop around `try? await` of a sleep, run for 10,000 jobs more. Then they
/// stay suspended for ever, with what they keep alive.
///
/// **Order.** Tasks can take turns wherever they suspend or yield, and where they enter or leave an actor. Between
/// those points a job runs as a whole. If a loop has no such point and does not end, the call does not return. Two
/// calls of one actor with nothing between them are one visit, which no task interrupts: yield between them, or call
/// something else.
///
/// **Isolation.** The scenario runs on no actor, with the task-locals and the priority of the caller, so issues are
/// recorded for the caller's test. The calling thread is blocked meanwhile. If it is the main thread, the main actor
/// waits, so the scenario must not wait for it. In a test it is a thread of the pool, which has one for each core:
/// tests beside it must not rely on deadlines in real time, unless the exploration is on a queue of its own:
///
/// ```swift
/// let queue = DispatchQueueExecutor(DispatchQueue(label: "exploring"))
/// _ = try await withTaskExecutorPreference(queue) {
///   try exploreSchedules(seeds: 0..<10_000, oneSeat)
/// }
/// ```
///
/// **Cancellation.** If the caller's task is cancelled, as by a test's time limit, it fails before the next schedule.
///
/// **Errors.** A ``ScheduleFailure`` with the seed of the first schedule that failed.
///
/// - Parameters:
///   - seeds: the schedules to play. One seed, as `[4711]` or `4711..<4712`, plays one again. An empty collection stops
///     the program, because it would test nothing.
///   - strategy: how the next job is chosen.
///   - limit: how many jobs a schedule may take, and how often its clock may advance.
///   - patience: for how long to wait for a job from another thread when none is left and the scenario has not ended;
///     the calling thread is blocked meanwhile. With zero, the default, the scenario is stuck at once.
///   - scenario: what to play, with the executor of the schedule.
/// - Returns: how many schedules were played.
/// - Throws: a ``ScheduleFailure``.
@discardableResult
public func exploreSchedules(
  seeds: some Sequence<UInt64> = 0..<1_000, strategy: SchedulingStrategy = .alternating,
  stepLimit limit: Int = 100_000, patience: Duration = .zero,
  _ scenario: @escaping @Sendable (SeededExecutor) async throws -> Void
) throws(ScheduleFailure) -> Exploration {
  let explorer = Explorer(
    strategy: strategy, stepLimit: limit, patience: patience, scenario: scenario)
  let exploration = try explorer.explore(seeds)
  if exploration.schedules == 0 {
    fatalError("exploreSchedules(seeds:): there are no seeds, so that nothing would be tried.")
  }
  return exploration
}

/// Plays a scenario under the schedule of one seed, as ``exploreSchedules(seeds:strategy:stepLimit:patience:_:)`` did.
///
/// **Order**, **Isolation**, **Cancellation** and **Errors.** As with
/// ``exploreSchedules(seeds:strategy:stepLimit:patience:_:)``.
///
/// - Parameters:
///   - seed: the seed, as ``ScheduleFailure/seed`` says.
///   - strategy: how the next job is chosen; the strategy with which the schedule was found.
///   - limit: how many jobs the schedule may take.
///   - patience: for how long to wait for a job from another thread when none is left and the scenario has not ended.
///   - scenario: what to play, with the executor of the schedule.
/// - Returns: what was played.
/// - Throws: a ``ScheduleFailure``.
@discardableResult
public func replaySchedule(
  seed: UInt64, strategy: SchedulingStrategy = .alternating,
  stepLimit limit: Int = 100_000, patience: Duration = .zero,
  _ scenario: @escaping @Sendable (SeededExecutor) async throws -> Void
) throws(ScheduleFailure) -> Exploration {
  try exploreSchedules(
    seeds: CollectionOfOne(seed), strategy: strategy, stepLimit: limit, patience: patience, scenario
  )
}
