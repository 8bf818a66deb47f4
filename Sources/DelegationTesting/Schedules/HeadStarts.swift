/// The calls that the scenario itself makes to actors right after it has started tasks.
///
/// Starting tasks and calling an actor is one job, within which none of the tasks can run: if such a task, or a task
/// that it starts, calls the same actor, the scenario's call comes first in every schedule. A call shows only if it
/// wakes an idle actor, by the actor's *turn*, which is a job. So schedules are compared: a task's job that calls the
/// actor brings a turn if the scenario's turn has passed, and nothing if that is still to come.
struct HeadStarts {
  /// A job of a task that was started before such a call, or a turn that such a job brought; identified by what is the
  /// same in all schedules.
  private struct Visit: Hashable {
    /// The scenario's call, by how many tasks the scenario had started before: the number of its jobs differs between
    /// schedules.
    let call: Int
    /// The task, by the job that started it.
    let task: Int
    let isTurn: Bool
    /// How many jobs of the task had run.
    let job: Int
    /// How many jobs the task or actor had in the whole schedule: one more if it has waited for something else.
    var total = 0
  }

  private struct Call {
    /// The number and the actor of the turn that the scenario's call waits for.
    let turn: Int
    let actor: Int
    var hasPassed = false
  }

  private struct KnownActor {
    unowned let object: AnyObject
  }

  private typealias Sighting = (visit: Visit, place: Int)

  // One schedule.

  private var calls: [Int: Call] = [:]
  /// The last call, if the scenario has not gone on from it.
  private var open: Int?
  /// How many tasks the scenario has started.
  private var started = 0
  /// The actors that have had turns, by their addresses; unowned, so that no other actor gets the memory of a dead one.
  private var actors: [Int: KnownActor] = [:]
  /// How many jobs each task, or turns each actor, has had.
  private var jobs: [Int: Int] = [:]
  /// The tasks that were started before such calls, and those that these tasks started, each with its visit before its
  /// first job.
  private var tasks: [Int: Visit] = [:]
  /// The turns that these tasks' jobs brought, by their numbers.
  private var turns: [Int: Visit] = [:]
  /// The visits that brought nothing while the scenario's turn was to come, by task or actor, until that goes on.
  private var pending: [Int: Visit] = [:]
  private var silent: [Sighting] = []
  /// The visits that brought the actor's turn after the scenario's turn.
  private var entering: [Sighting] = []

  // All schedules that were merged.

  private var allSilent: Set<Visit> = []
  private var allEntering: Set<Visit> = []

  /// Whether the scenario called an actor that a task called too, which the scenario had just started.
  var isSeen: Bool { !allSilent.isDisjoint(with: allEntering) }

  /// Notes a job that has run.
  ///
  /// - Parameters:
  ///   - job: the job.
  ///   - entries: the jobs that it brought.
  ///   - newTasks: the tasks that it has started.
  mutating func note(
    _ job: Schedule.Entry, bringing entries: [Schedule.Entry], starting newTasks: Range<Int>
  ) {
    jobs[job.place, default: 0] += 1
    if let open, job.number == calls[open]?.turn { calls[open]?.hasPassed = true }
    for entry in entries {
      if entry.isTurn, entry.place > 0 {
        // Above 0 a turn's place is its actor's address, and a turn that waits keeps its actor.
        actors[entry.place] = KnownActor(object: unsafeBitCast(entry.place, to: AnyObject.self))
      }
      // An actor's turn resumes a task that has waited for the actor; another job, a task that has waited for something
      // else.
      guard let visit = pending.removeValue(forKey: entry.place), job.isTurn else { continue }
      silent.append((visit, entry.place))
    }
    let visit = self.visit(by: job)
    // A turn that came in the scenario's job may belong to a task that ran as a part of that job (`Task.immediate`). It
    // is the scenario's if an actor's turn, or a task that the scenario started, resumes the scenario.
    if let call = open, entries.contains(where: { $0.task == 0 && $0.id != 0 }) {
      open = nil
      if calls[call]?.hasPassed != true || !job.isTurn && visit == nil { calls[call] = nil }
    }
    if let visit {
      look(at: visit, by: job, bringing: entries)
      name(newTasks, startedBy: visit)
      for entry in entries where entry.isTurn { turns[entry.number] = visit }
    } else if job.task == 0, job.id != 0, !newTasks.isEmpty {
      if let turn = entries.last(where: \.isTurn) {
        open = started
        calls[started] = Call(turn: turn.number, actor: turn.place)
        name(newTasks, startedBy: Visit(call: started, task: 0, isTurn: false, job: 0))
      }
      started += newTasks.count
    }
  }

  private func visit(by job: Schedule.Entry) -> Visit? {
    if job.isTurn {
      return turns[job.number].map {
        Visit(call: $0.call, task: $0.task, isTurn: true, job: $0.job)
      }
    }
    return job.task.flatMap { tasks[$0] }.map {
      Visit(call: $0.call, task: $0.task, isTurn: false, job: jobs[job.place] ?? 0)
    }
  }

  private mutating func name(_ newTasks: Range<Int>, startedBy visit: Visit) {
    for (index, task) in newTasks.enumerated() {
      let name = (visit.task &* 1_000_003 &+ visit.job) &* 1_000_003 &+ index &+ 1
      tasks[task] = Visit(call: visit.call, task: name, isTurn: false, job: 0)
    }
  }

  private mutating func look(
    at visit: Visit, by job: Schedule.Entry, bringing entries: [Schedule.Entry]
  ) {
    guard let call = calls[visit.call] else { return }
    let isEntering = entries.contains { $0.isTurn && $0.place == call.actor }
    if call.hasPassed {
      // If the call waits within the actor for the task, this turn may be what it waited for, and is reported all the
      // same.
      if isEntering { entering.append((visit, job.place)) }
    } else if !entries.contains(where: { $0.isTurn || $0.place == job.place }) {
      pending[job.place] = visit
    }
  }

  /// Adds what was seen in another schedule, which has ended.
  mutating func merge(_ other: HeadStarts) {
    func all(_ sightings: [Sighting]) -> [Visit] {
      sightings.filter { other.calls[$0.visit.call] != nil && $0.visit.call != other.open }.map {
        var visit = $0.visit
        visit.total = other.jobs[$0.place] ?? 0
        return visit
      }
    }
    allSilent.formUnion(all(other.silent + other.pending.map { ($0.value, $0.key) }))
    allEntering.formUnion(all(other.entering))
  }
}
