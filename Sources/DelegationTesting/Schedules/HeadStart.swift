/// Whether the scenario itself calls an actor right after it has started tasks that call the same actor.
///
/// That is one job, so none of the tasks has run: in the actor's queue the scenario's call is before theirs in every
/// schedule, though the schedules differ. That it is the same actor is seen by comparing schedules: a job of such a task
/// that enters it brings the actor's turn if the scenario's has passed, and nothing as long as that is still to come.
struct HeadStart {
  /// A task and how many of its jobs have run.
  struct Visit: Hashable {
    let task: Int
    let job: Int
  }

  /// The number of the turn that the scenario's call waits for, once there is one.
  private var turn: Int?
  /// The tasks that had just been started.
  private var started = 0..<0
  private var jobs: [Int: Int] = [:]
  private var hasPassed = false
  /// The jobs that brought nothing before the turn.
  private var silent: Set<Visit> = []
  /// The jobs that brought an actor's turn after it.
  private var entering: Set<Visit> = []

  /// Whether there was such a call, of which it is not known on which actor.
  private(set) var isPossible = true
  /// Whether it has been seen that it is on the same actor.
  var isSeen: Bool { isPossible && !silent.isDisjoint(with: entering) }

  /// Takes note of a job that has run.
  ///
  /// - Parameters:
  ///   - job: the job.
  ///   - entries: the jobs that came of it.
  ///   - newTasks: the tasks that it has started.
  mutating func note(
    _ job: Schedule.Entry, bringing entries: [Schedule.Entry], starting newTasks: Range<Int>
  ) {
    guard let task = job.task else { return }
    if job.id == 0 {
      if job.number == turn { hasPassed = true }
    } else if task == 0 {
      guard turn == nil, !newTasks.isEmpty else { return }
      turn = entries.first(where: \.isTurn)?.number
      started = newTasks
    } else if turn != nil, started.contains(task) {
      jobs[task, default: 0] += 1
      let visit = Visit(task: task, job: jobs[task] ?? 0)
      if hasPassed, entries.contains(where: \.isTurn) { entering.insert(visit) }
      if !hasPassed, entries.isEmpty { silent.insert(visit) }
    }
  }

  /// Adds what was seen in another schedule.
  mutating func merge(_ other: HeadStart) {
    isPossible = isPossible && other.turn != nil
    silent.formUnion(other.silent)
    entering.formUnion(other.entering)
  }
}
