internal import Synchronization

/// The running tasks of one fan-out, so that they can be cancelled or escalated together.
///
/// Cancelling a task runs the cancellation handlers within it, which are user code. So it happens in
/// separate tasks: a handler that blocks delays neither the canceller nor the cancelling of the others.
/// A task that leaves meanwhile suspends until nobody uses its handle.
@usableFromInline
struct RunningTasks: ~Copyable, Sendable {
  /// A running task's handle.
  ///
  /// `@unchecked Sendable`: it is used only while its task runs, which ``leave(_:)`` and
  /// ``waitForUsers()`` ensure. Only those of its methods are called that `Task` has as well, which any
  /// thread may call.
  struct Member: @unchecked Sendable {
    let task: UnsafeCurrentTask
  }

  /// The index of a member, by which it leaves.
  typealias Place = Int

  struct State: Sendable {
    /// By place; `nil` where one has left.
    var members: [Member?] = []
    /// Places that can be used again.
    var vacancies: [Place] = []
    var isCancelled = false
    /// The priority that the members have been raised to, and that new members will be raised to.
    ///
    /// It is the raw value: an optional of the type itself would be looked up at run time.
    var priority: UInt8 = 0
    /// How many are using the members' handles at the moment.
    var users = 0
    /// The tasks that have left and wait until nobody uses a handle.
    var leaving: [CheckedContinuation<Void, Never>] = []
  }

  let state = Lock(State())
  /// Whether all are to be cancelled.
  ///
  /// Written under the lock.
  private let isCancelledFlag = Atomic<Bool>(false)

  /// Whether all are to be cancelled.
  @usableFromInline
  var isCancelled: Bool { isCancelledFlag.load(ordering: .acquiring) }

  /// Adds the current task, and cancels or escalates it at once if that was done to the others.
  ///
  /// - Returns: the place, for ``leave(_:)`` before the task ends.
  func join() -> Place {
    withUnsafeCurrentTask { task in
      guard let task else { fatalError("Delegation: a worker runs outside of any task") }
      let member = Member(task: task)
      let (place, isCancelled, priority) = state.withLock { state in
        (state.add(member), state.isCancelled, state.priority)
      }
      if isCancelled { task.cancel() }
      if priority > 0 { Self.escalate(task, to: TaskPriority(rawValue: priority)) }
      return place
    }
  }

  /// Removes the current task.
  ///
  /// - Returns: whether nobody uses its handle; otherwise it has to call ``waitForUsers()``.
  func leave(_ place: Place) -> Bool {
    state.withLock { state in
      state.remove(place)
      return state.users == 0
    }
  }

  /// Waits until nobody uses the handle of a task that has left.
  nonisolated(nonsending) func waitForUsers() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.users > 0 { state.leaving.append(continuation) }
        return state.users == 0
      }
      if isFree { continuation.resume() }
    }
  }

  /// Cancels all running tasks and all that will join.
  ///
  /// - Parameters:
  ///   - executor: where their cancellation handlers run, except for those that run in place.
  ///   - isInPlace: whether the current thread may run some. If not, it returns before they have run.
  ///   - onEnd: is called when all have run; it calls ``endUse()``.
  func cancel(
    on executor: (any TaskExecutor)?, inPlace isInPlace: Bool,
    onEnd: @escaping @Sendable () -> Void
  ) {
    let members = beginUse { state in
      state.isCancelled = true
      isCancelledFlag.store(true, ordering: .releasing)
    }
    if members.isEmpty { return }
    let cancelling = Cancelling(members, on: executor, onEnd: onEnd)
    if isInPlace { cancelling.work() } else { cancelling.start() }
  }

  /// Raises the priority of all running tasks and of all that will join.
  func escalate(to priority: TaskPriority) {
    let members = beginUse { $0.priority = max($0.priority, priority.rawValue) }
    guard !members.isEmpty else { return }
    for member in members { Self.escalate(member.task, to: priority) }
    endUse()
  }

  private static func escalate(_ task: UnsafeCurrentTask, to priority: TaskPriority) {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    task.escalatePriority(to: priority)
  }

  /// Changes the state, and keeps the running tasks' handles valid until ``endUse()``, if there are any.
  private func beginUse(noting note: (inout State) -> Void) -> [Member] {
    state.withLock { state in
      note(&state)
      let members = state.members.compactMap(\.self)
      if !members.isEmpty { state.users += 1 }
      return members
    }
  }

  /// Resumes the tasks that waited until nobody uses their handles.
  func endUse() {
    let leaving = state.withLock { state in
      state.users -= 1
      guard state.users == 0 else { return [CheckedContinuation<Void, Never>]() }
      defer { state.leaving = [] }
      return state.leaving
    }
    for continuation in leaving { continuation.resume() }
  }
}

/// The cancelling of several tasks, by workers with a standby.
///
/// While a task is left to be cancelled, a standby has been requested: if a cancellation handler blocks
/// its thread, the next worker cancels the others.
private final class Cancelling: Sendable {
  private let members: [RunningTasks.Member]
  private let executor: (any TaskExecutor)?
  private let onEnd: @Sendable () -> Void
  private let next = Atomic<Int>(0)
  private let cancelled = Atomic<Int>(0)

  init(
    _ members: [RunningTasks.Member], on executor: (any TaskExecutor)?,
    onEnd: @escaping @Sendable () -> Void
  ) {
    self.members = members
    self.executor = executor
    self.onEnd = onEnd
  }

  func start() {
    Task.startDetached(on: executor) { self.work() }
  }

  func work() {
    if members.count - next.load(ordering: .relaxed) > 1 { start() }
    while true {
      let position = next.wrappingAdd(1, ordering: .relaxed).oldValue
      guard position < members.count else { return }
      members[position].task.cancel()
      if cancelled.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue == members.count {
        onEnd()
      }
    }
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
    // Usually there is one member, which needs no list of vacancies.
    guard place == members.count - 1, vacancies.isEmpty else {
      members[place] = nil
      vacancies.append(place)
      return
    }
    members.removeLast()
  }
}
