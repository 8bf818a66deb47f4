/// The calls that the scenario itself makes to actors right after it has started tasks.
///
/// Starting and calling is one job, so none of the tasks has run: if one of them, or of those that they start, calls the
/// same actor, the scenario's call is before it in the actor's queue in every schedule, though the schedules differ. A
/// call is seen only if it wakes an idle actor, by the *turn* that comes of it. So schedules are compared: a job that
/// brings the actor's turn once the scenario's has passed brings nothing as long as that is still to come.
struct HeadStarts {
  /// A job of a task that was started then, or a turn that such a job brought, by what is the same in all schedules.
  private struct Visit: Hashable {
    /// The scenario's call, by how many tasks the scenario had started before: it may wait more often in one schedule
    /// than in another.
    let call: Int
    /// The task, by who has started it.
    let task: Int
    let isTurn: Bool
    /// How many jobs of the task there had been.
    let job: Int
    /// How often its place had its turn in the whole schedule: once more if it has waited for something else.
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

  // What is known of one schedule.

  private var calls: [Int: Call] = [:]
  /// The last call, if the scenario has not gone on from it.
  private var open: Int?
  /// How many tasks the scenario has started.
  private var started = 0
  /// The actors that have had turns, by their addresses: a dead one's memory is not another one's as long as it is in here.
  private var actors: [Int: KnownActor] = [:]
  /// How many jobs there were at a place: of a task, or turns of an actor.
  private var jobs: [Int: Int] = [:]
  /// The tasks that were started then, and by those, with visits of number 0.
  private var tasks: [Int: Visit] = [:]
  /// The turns that were brought by these, by their numbers.
  private var turns: [Int: Visit] = [:]
  /// The visits that brought nothing before the scenario's turn, by their places, as long as these have not gone on.
  private var pending: [Int: Visit] = [:]
  private var silent: [Sighting] = []
  /// Those that brought the actor's turn after the scenario's.
  private var entering: [Sighting] = []

  // What is known of all that were merged.

  private var allSilent: Set<Visit> = []
  private var allEntering: Set<Visit> = []

  /// Whether one of the calls was on an actor that one of its tasks called too.
  var isSeen: Bool { !allSilent.isDisjoint(with: allEntering) }

  /// Takes note of a job that has run.
  ///
  /// - Parameters:
  ///   - job: the job.
  ///   - entries: the jobs that came of it.
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
      // Who has waited for an actor goes on from an actor; another job resumes who has waited for something else.
      guard let visit = pending.removeValue(forKey: entry.place), job.isTurn else { continue }
      silent.append((visit, entry.place))
    }
    let visit = self.visit(by: job)
    // A turn that came in the scenario's job may be another task's, which has run as a part of it (`Task.immediate`).
    // It is the scenario's own if the scenario goes on from an actor, or once a task that it has started goes on.
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
      // If the call waits within the actor for the task, this may be what it has waited for, and is reported all the same.
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
