/// The calls that the scenario itself makes to actors right after it has started tasks, each with those tasks.
///
/// Starting and calling is one job, so none of the tasks has run: if one of them calls the same actor, the scenario's
/// call is before it in the actor's queue in every schedule, though the schedules differ. That it is the same actor is
/// seen by comparing schedules: a job of such a task that enters it brings the actor's turn if the scenario's has
/// passed, and nothing as long as that is still to come.
struct HeadStarts {
  /// A task and how many of its jobs have run; tasks are counted from the first of those that were started.
  private struct Visit: Hashable {
    let task: Int
    let job: Int
  }

  private struct Call {
    /// The number of the turn that the scenario's call waits for.
    let turn: Int
    /// The tasks that had just been started.
    let started: Range<Int>
    var hasPassed = false
    var jobs: [Int: Int] = [:]
    /// The jobs that brought nothing before the turn.
    var silent: Set<Visit> = []
    /// The jobs that brought an actor's turn after it.
    var entering: Set<Visit> = []
    /// Whether the scenario started as many tasks there in all schedules.
    var isComparable = true
    var isSeen: Bool { isComparable && !silent.isDisjoint(with: entering) }

    mutating func note(_ job: Schedule.Entry, of task: Int, bringing entries: [Schedule.Entry]) {
      jobs[task, default: 0] += 1
      let visit = Visit(task: task - started.lowerBound, job: jobs[task] ?? 0)
      if hasPassed, entries.contains(where: \.isTurn) { entering.insert(visit) }
      if !hasPassed, entries.isEmpty { silent.insert(visit) }
    }

    mutating func merge(_ other: Call) {
      isComparable = isComparable && other.isComparable && started.count == other.started.count
      silent.formUnion(other.silent)
      entering.formUnion(other.entering)
    }
  }

  /// The calls in their order; those that were merged are the ones of all schedules.
  private var calls: [Call] = []
  /// Whether it is not known yet that the scenario waits for the last call's turn.
  private var isOpen = false

  /// Whether one of the calls was on an actor that one of its tasks called too.
  var isSeen: Bool { calls.contains(where: \.isSeen) }

  /// Takes note of a job that has run.
  ///
  /// - Parameters:
  ///   - job: the job.
  ///   - entries: the jobs that came of it.
  ///   - newTasks: the tasks that it has started.
  mutating func note(
    _ job: Schedule.Entry, bringing entries: [Schedule.Entry], starting newTasks: Range<Int>
  ) {
    if job.number == calls.last?.turn { calls[calls.count - 1].hasPassed = true }
    // A turn that came in the scenario's job may be another task's, which has run as a part of it (`Task.immediate`).
    // It is the scenario's own if the scenario goes on from an actor.
    if isOpen, entries.contains(where: { $0.task == 0 && $0.id != 0 }) {
      isOpen = false
      if !job.isTurn || calls.last?.hasPassed != true { calls.removeLast() }
    }
    guard let task = job.task, job.id != 0 else { return }
    if task == 0 {
      guard !newTasks.isEmpty, let turn = entries.last(where: \.isTurn)?.number else { return }
      calls.append(Call(turn: turn, started: newTasks))
      isOpen = true
    } else if let index = calls.firstIndex(where: { $0.started.contains(task) }) {
      calls[index].note(job, of: task, bringing: entries)
    }
  }

  /// Adds what was seen in another schedule, and leaves out calls that one of the two has not.
  mutating func merge(_ other: HeadStarts) {
    calls = zip(calls, other.calls).map { call, other in
      var call = call
      call.merge(other)
      return call
    }
  }
}
