/// The tasks at work for one caller's fan-out, so that they can be cancelled or hurried together.
///
/// Cancelling a task runs the cancellation handlers within it, which are user's code, so it happens
/// outside the lock; a task that leaves meanwhile waits, suspended, until that is over.
struct RunningTasks: ~Copyable, Sendable {
  /// A running task's handle.
  ///
  /// `@unchecked Sendable`: it is used only while its task is in the scope that
  /// `withUnsafeCurrentTask` gave it out for, which ``leave(_:)`` sees to; of its methods only those
  /// are called that `Task` has as well, which any thread may call.
  struct Member: @unchecked Sendable {
    let task: UnsafeCurrentTask
  }

  /// What a member leaves by.
  typealias Place = Int

  struct State: Sendable {
    /// By place; `nil` where one has left.
    var members: [Member?] = []
    /// Places to be had again.
    var vacancies: [Place] = []
    var isCancelled = false
    /// The priority that the members have been raised to, and those to come will be.
    var priority: TaskPriority?
    /// How many are calling the members' tasks at the moment.
    var callers = 0
    /// Those that have left and wait for the callers to be done.
    var leaving: [CheckedContinuation<Void, Never>] = []
  }

  let state = Lock(State())

  /// Adds the current task, to which at once happens what has happened to the running tasks.
  func join(_ member: Member) -> Place {
    let (place, isCancelled, priority) = state.withLock { state in
      (state.add(member), state.isCancelled, state.priority)
    }
    if isCancelled { member.task.cancel() }
    if let priority { Self.escalate(member.task, to: priority) }
    return place
  }

  /// Removes the current task, and returns when nobody uses its handle any more.
  nonisolated(nonsending) func leave(_ place: Place) async {
    let isFree = state.withLock { state in
      state.remove(place)
      return state.callers == 0
    }
    if isFree { return }
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.callers > 0 { state.leaving.append(continuation) }
        return state.callers == 0
      }
      if isFree { continuation.resume() }
    }
  }

  /// Cancels all that are at work and all that will join.
  func cancel() {
    call(noting: { $0.isCancelled = true }) { $0.cancel() }
  }

  /// Raises the priority of all that are at work and all that will join.
  func escalate(to priority: TaskPriority) {
    call(noting: { $0.priority = max($0.priority ?? priority, priority) }) {
      Self.escalate($0, to: priority)
    }
  }

  private static func escalate(_ task: UnsafeCurrentTask, to priority: TaskPriority) {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    task.escalatePriority(to: priority)
  }

  private func call(noting note: (inout State) -> Void, _ body: (UnsafeCurrentTask) -> Void) {
    let members = state.withLock { state in
      note(&state)
      if !state.members.isEmpty { state.callers += 1 }
      return state.members
    }
    guard !members.isEmpty else { return }
    for member in members { if let member { body(member.task) } }
    let leaving = state.withLock { state in
      state.callers -= 1
      guard state.callers == 0 else { return [CheckedContinuation<Void, Never>]() }
      defer { state.leaving = [] }
      return state.leaving
    }
    for continuation in leaving { continuation.resume() }
  }
}

extension RunningTasks.State {
  mutating func add(_ member: RunningTasks.Member) -> RunningTasks.Place {
    if let place = vacancies.popLast() {
      members[place] = member
      return place
    }
    members.append(member)
    return members.count - 1
  }

  mutating func remove(_ place: RunningTasks.Place) {
    // Most running tasks have one member: no list of vacancies is needed then.
    guard place == members.count - 1, vacancies.isEmpty else {
      members[place] = nil
      vacancies.append(place)
      return
    }
    members.removeLast()
  }
}
