/// The tasks at work for one caller's fan-out, so that they can be cancelled together.
struct Crew: Sendable {
  /// A running task's handle.
  ///
  /// `@unchecked Sendable`: it is in the crew only while its task runs within the scope that
  /// `withUnsafeCurrentTask` gave it out for, and is used only under the lock that removal takes too;
  /// of its methods only those are called that `Task` has as well, which any thread may call.
  struct Member: @unchecked Sendable {
    let task: UnsafeCurrentTask
  }

  private var members: [Member] = []
  private var isCancelled = false

  /// Adds the current task, which is cancelled at once if the crew has been.
  mutating func join(_ member: Member) {
    members.append(member)
    if isCancelled { member.task.cancel() }
  }

  mutating func leave(_ member: Member) {
    members.removeAll { $0.task == member.task }
  }

  /// Cancels all that are at work and all that will join.
  mutating func cancel() {
    isCancelled = true
    for member in members { member.task.cancel() }
  }
}
