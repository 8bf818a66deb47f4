/// The tasks at work for one caller's fan-out, so that they can be cancelled or hurried together.
///
/// Cancelling a task runs the cancellation handlers within it, which are foreign code, so it happens
/// outside the lock; a task that leaves meanwhile waits, suspended, until that is over.
final class Crew: Sendable {
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

  private struct State: Sendable {
    var members: [Place: Member] = [:]
    var lastPlace = 0
    var isCancelled = false
    /// How many are calling the members' tasks at the moment.
    var callers = 0
    /// Those that have left and wait for the callers to be done.
    var leaving: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Lock(State())

  /// Adds the current task, which is cancelled at once if the crew has been.
  func join(_ member: Member) -> Place {
    let (place, isCancelled) = state.withLock { state in
      state.lastPlace += 1
      state.members[state.lastPlace] = member
      return (state.lastPlace, state.isCancelled)
    }
    if isCancelled { member.task.cancel() }
    return place
  }

  /// Removes the current task, and returns when nobody uses its handle any more.
  nonisolated(nonsending) func leave(_ place: Place) async {
    let isFree = state.withLock { state in
      state.members[place] = nil
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
    call(cancelling: true) { $0.cancel() }
  }

  /// Raises the priority of all that are at work.
  func escalate(to priority: TaskPriority) {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    call(cancelling: false) { $0.escalatePriority(to: priority) }
  }

  private func call(cancelling isCancelling: Bool, _ body: (UnsafeCurrentTask) -> Void) {
    let members = state.withLock { state in
      if isCancelling { state.isCancelled = true }
      if !state.members.isEmpty { state.callers += 1 }
      return Array(state.members.values)
    }
    guard !members.isEmpty else { return }
    for member in members { body(member.task) }
    let leaving = state.withLock { state in
      state.callers -= 1
      guard state.callers == 0 else { return [CheckedContinuation<Void, Never>]() }
      defer { state.leaving = [] }
      return state.leaving
    }
    for continuation in leaving { continuation.resume() }
  }
}
