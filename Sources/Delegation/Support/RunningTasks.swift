internal import Synchronization

/// The tasks at work for one caller's fan-out, so that they can be cancelled or hurried together.
///
/// Cancelling a task runs the cancellation handlers within it, which are user code. So it happens in
/// tasks of its own: one that blocks holds up neither whoever cancels nor the cancelling of the others.
/// A task that leaves meanwhile waits, suspended, until nobody uses its handle.
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
    ///
    /// As its raw value: an optional of the type itself is looked up at run time.
    var priority: UInt8 = 0
    /// How many are using the members' handles at the moment.
    var users = 0
    /// Those that have left and wait for the users to be done.
    var leaving: [CheckedContinuation<Void, Never>] = []
  }

  let shared = Shared()

  /// What those keep who cancel, after the fan-out has ended.
  final class Shared: Sendable {
    let state = Lock(State())
  }

  /// Whether ``cancel(on:)`` has been called.
  var isCancelled: Bool { shared.state.withLock { $0.isCancelled } }

  /// Adds the current task, to which at once happens what has happened to the others.
  func join(_ member: Member) -> Place {
    let (place, isCancelled, priority) = shared.state.withLock { state in
      (state.add(member), state.isCancelled, state.priority)
    }
    if isCancelled { member.task.cancel() }
    if priority > 0 { Self.escalate(member.task, to: TaskPriority(rawValue: priority)) }
    return place
  }

  /// Removes the current task, and returns when nobody uses its handle any more.
  nonisolated(nonsending) func leave(_ place: Place) async {
    let isFree = shared.state.withLock { state in
      state.remove(place)
      return state.users == 0
    }
    if !isFree { await waitForUsers() }
  }

  nonisolated(nonsending) private func waitForUsers() async {
    await withCheckedContinuation { continuation in
      let isFree = shared.state.withLock { state in
        if state.users > 0 { state.leaving.append(continuation) }
        return state.users == 0
      }
      if isFree { continuation.resume() }
    }
  }

  /// Cancels all that are at work and all that will join.
  ///
  /// Returns before their cancellation handlers have run.
  ///
  /// - Parameter executor: where they run.
  func cancel(on executor: (any TaskExecutor)?) {
    let members = shared.beginUse { $0.isCancelled = true }
    if !members.isEmpty {
      Cancelling(members, on: executor) { [shared] in shared.endUse() }.start()
    }
  }

  /// Raises the priority of all that are at work and all that will join.
  func escalate(to priority: TaskPriority) {
    let members = shared.beginUse { $0.priority = max($0.priority, priority.rawValue) }
    guard !members.isEmpty else { return }
    for member in members { Self.escalate(member.task, to: priority) }
    shared.endUse()
  }

  private static func escalate(_ task: UnsafeCurrentTask, to priority: TaskPriority) {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    task.escalatePriority(to: priority)
  }
}

extension RunningTasks.Shared {
  /// Notes something, and keeps the handles of those at work valid until ``endUse()`` if there are any.
  fileprivate func beginUse(
    noting note: (inout RunningTasks.State) -> Void
  ) -> [RunningTasks.Member] {
    state.withLock { state in
      note(&state)
      let members = state.members.compactMap(\.self)
      if !members.isEmpty { state.users += 1 }
      return members
    }
  }

  fileprivate func endUse() {
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
/// As long as somebody is left to cancel there is a task that has been asked for to do it: a
/// cancellation handler that blocks takes one thread, and the others are cancelled by the next.
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

  private func work() {
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
    // Mostly there is one member: no list of vacancies is needed then.
    guard place == members.count - 1, vacancies.isEmpty else {
      members[place] = nil
      vacancies.append(place)
      return
    }
    members.removeLast()
  }
}
