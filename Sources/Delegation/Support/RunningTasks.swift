internal import Synchronization

/// The running tasks of one fan-out, so that they can be cancelled or escalated together.
///
/// Cancelling a task runs the cancellation handlers within it, and raising its priority runs the
/// escalation handlers: they are user code. So it happens in tasks of its own: one that blocks holds up
/// neither whoever cancels or raises, nor the cancelling or raising of the others.
/// A task that leaves meanwhile waits, suspended, until nobody uses its handle.
@usableFromInline
struct RunningTasks: ~Copyable, Sendable {
  /// A running task's handle.
  ///
  /// It is an object: the runtime would look up how to copy the handle each time.
  ///
  /// `@unchecked Sendable`: it is used only while its task runs, which ``leave(_:)`` and
  /// ``waitForUsers()`` ensure. Only those of its methods are called that `Task` has as well, which any
  /// thread may call.
  final class Member: @unchecked Sendable {
    let task: UnsafeCurrentTask

    init(_ task: UnsafeCurrentTask) {
      self.task = task
    }
  }

  /// The index of a member, by which it leaves.
  typealias Place = Int

  struct State: Sendable {
    /// The member at place 0: usually there is one, which needs no list.
    var first: Member?
    /// The members from place 1 on; `nil` where one has left.
    var others: [Member?] = []
    /// Places from 1 on that can be used again.
    var vacancies: [Place] = []
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
  /// That runs no user code: the task has just begun, and nothing within it has a handler yet.
  ///
  /// - Returns: what to ``leave(_:)`` by, before the task ends.
  func join() -> Place {
    withUnsafeCurrentTask { task in
      guard let task else { fatalError("Delegation: a worker runs outside of any task") }
      let member = Member(task)
      let (place, isCancelled, priority) = state.withLock { state in
        (state.add(member), self.isCancelled, state.priority)
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

  /// Cancels the running tasks and all that will join, unless that has been done.
  ///
  /// - Parameters:
  ///   - present: the current task, if it is to be left out; `nil` to cancel all that run.
  ///   - executor: where their cancellation handlers run, except for those that run in place.
  ///   - isInPlace: whether the current thread may run some. If not, it returns before they have run.
  ///   - onEnd: is called when all have run, and calls ``endUse()``. If no task runs, it is not called.
  func cancel(
    except present: UnsafeCurrentTask? = nil, on executor: (any TaskExecutor)?,
    inPlace isInPlace: Bool, onEnd: @escaping @Sendable () -> Void
  ) {
    let members = beginUse { state in
      if isCancelledFlag.exchange(true, ordering: .acquiringAndReleasing) { return [] }
      return state.atWork.filter { $0.task != present }
    }
    if members.isEmpty { return }
    let calls = HandleCalls(on: members, by: executor, onEnd: onEnd) { $0.cancel() }
    if isInPlace { calls.work() } else { calls.start() }
  }

  /// Raises the priority of all that are at work and all that will join.
  ///
  /// It returns before their escalation handlers have run.
  ///
  /// - Parameters:
  ///   - priority: what to raise it to.
  ///   - executor: where they run.
  ///   - onEnd: is called when all have run, and calls ``endUse()``.
  func escalate(
    to priority: TaskPriority, on executor: (any TaskExecutor)?,
    onEnd: @escaping @Sendable () -> Void
  ) {
    let members = beginUse { state in
      guard priority.rawValue > state.priority else { return [] }
      state.priority = priority.rawValue
      return state.atWork
    }
    if members.isEmpty { return }
    let calls = HandleCalls(on: members, by: executor, at: priority, onEnd: onEnd) {
      Self.escalate($0, to: priority)
    }
    calls.start()
  }

  private static func escalate(_ task: UnsafeCurrentTask, to priority: TaskPriority) {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    task.escalatePriority(to: priority)
  }

  /// Keeps the handles of some that are at work valid until ``endUse()``, if there are any.
  ///
  /// - Parameter choose: notes something, and says whose; it runs under the lock.
  /// - Returns: the handles.
  func beginUse(of choose: (inout State) -> [Member]) -> [Member] {
    state.withLock { state in
      let members = choose(&state)
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

/// A call on the handles of several tasks, by workers with a standby.
///
/// While a task is left to be called on, a standby has been requested: if a handler blocks its thread, the
/// next worker makes the other calls.
private final class HandleCalls: Sendable {
  private struct Progress: StandbyWork {
    /// The tasks that no worker has claimed.
    var members: ArraySlice<RunningTasks.Member>
    /// How many calls have yet to return.
    var outstanding: Int
    var request = StandbyRequest.none

    var unclaimed: Int { members.count }
  }

  private let executor: (any TaskExecutor)?
  private let priority: TaskPriority
  private let onEnd: @Sendable () -> Void
  private let call: @Sendable (UnsafeCurrentTask) -> Void
  private let progress: Lock<Progress>

  init(
    on members: [RunningTasks.Member], by executor: (any TaskExecutor)?,
    at priority: TaskPriority = .high, onEnd: @escaping @Sendable () -> Void,
    _ call: @escaping @Sendable (UnsafeCurrentTask) -> Void
  ) {
    self.executor = executor
    self.priority = priority
    self.onEnd = onEnd
    self.call = call
    progress = Lock(Progress(members: members[...], outstanding: members.count))
  }

  func start() {
    Task.startDetached(on: executor, priority: priority) { self.work() }
  }

  func work() {
    progress.provideForSuccessor { start() }
    while let member = progress.withLock({ $0.members.popFirst() }) {
      call(member.task)
      if noteReturn() { onEnd() }
    }
  }

  /// Notes that a call has returned.
  ///
  /// - Returns: whether it was the last.
  private func noteReturn() -> Bool {
    progress.withLock { progress in
      progress.outstanding -= 1
      return progress.outstanding == 0
    }
  }
}

extension RunningTasks.State {
  /// The tasks that have joined and not left.
  var atWork: [RunningTasks.Member] { (CollectionOfOne(first) + others).compactMap(\.self) }

  mutating func add(_ member: RunningTasks.Member) -> RunningTasks.Place {
    if first == nil {
      first = member
      return 0
    }
    if let place = vacancies.popLast() {
      others[place - 1] = member
      return place
    }
    others.append(member)
    return others.count
  }

  mutating func remove(_ place: RunningTasks.Place) {
    if place == 0 {
      first = nil
    } else {
      others[place - 1] = nil
      vacancies.append(place)
    }
  }
}
