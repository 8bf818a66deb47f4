public import Synchronization

/// One call on many subscribers: the library's only call loop, for notifications and questions alike.
///
/// *Workers* claim positions from a shared index, one at a time and in order, and run each handler in
/// place. Whenever something is unclaimed there is one worker that has been asked for and not started,
/// the *standby*; one that starts with more than one position left asks for the next before it claims.
/// So a handler that suspends, or blocks its thread, holds up nobody behind it, and tasks are paid for
/// by the suspension rather than by the subscriber. Two exceptions: a question without a deadline
/// starts its first worker in the caller's place and asks for the standby when that comes back
/// suspended, so that a handler which blocks its thread there does hold up those behind it; and a
/// question that is asked of one after another has one worker, the caller itself.
@usableFromInline
final class FanOut: Sendable {
  /// One worker's part of a question: asks the subscriber at a position and those claimed after it.
  ///
  /// Returns the position of one that is claimed and not asked, for it is to be asked elsewhere, or
  /// `nil` when nothing is left. It asks the first one even so, and no other if `isSingle`.
  @usableFromInline
  typealias Question =
    nonisolated(nonsending) @Sendable (FanOut, Worker, _ first: Int, _ isSingle: Bool) async -> Int?

  @usableFromInline
  let nodes: [SubscriptionNode]
  /// What to ask; `nil` to hand over the notifications that wait in the mailboxes.
  let question: Question?
  /// The call that asks; `notify` to hand over notifications, each of which knows its own.
  @usableFromInline
  let call: CallKind
  /// Who awaits this fan-out; `nil` if notifications are handed over, which nobody awaits.
  let caller: Caller?
  /// Kept until the last worker is done: what was posted is delivered though the hub is let go.
  let hub: DelegateHub
  @usableFromInline
  let slowWatch: SlowWatch?
  /// The next position to claim; beyond the last one when all are claimed or the fan-out is halted.
  @usableFromInline
  let next = Atomic<Int>(0)
  let runningTasks = RunningTasks()

  /// What `next` is set to when nothing more may begin.
  private static let halted = Int.max / 2
  /// From this depth on, workers are not started in the caller's place: it would use up the stack.
  private static let deepest = 16

  /// Fans out the notifications that wait.
  init(delivering nodes: [SubscriptionNode], for hub: DelegateHub) {
    self.nodes = nodes
    self.hub = hub
    slowWatch = hub.slowWatch
    question = nil
    call = .notify
    caller = nil
  }

  /// Fans out a question that the present code awaits.
  @usableFromInline
  init(
    asking nodes: [SubscriptionNode], for hub: DelegateHub, in call: CallKind,
    _ question: @escaping Question
  ) {
    self.nodes = nodes
    self.hub = hub
    slowWatch = hub.slowWatch
    self.question = question
    self.call = call
    caller = Caller.present
  }

  // MARK: Starting and stopping

  /// Starts the first worker in the caller's place, and returns when it is done or has suspended.
  @usableFromInline
  func startInPlace() {
    guard hub.configuration.executor == nil, caller?.depth ?? 0 < Self.deepest,
      #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    else { return summonWorker() }
    hub.inbox.activity.begin()
    // In a loop, for only there does the compiler see that no executor is preferred: else it passes
    // on that there is none, and each of the task's switches takes a lock to find that out.
    for _ in 0..<1 { Task.immediate { await self.work() } }
    if unclaimed > 0 { summonWorker() }
  }

  /// Is the only worker, in the caller's task.
  @usableFromInline
  nonisolated(nonsending) func runInTurn() async {
    hub.inbox.activity.begin()
    if let executor = hub.configuration.executor {
      await withTaskExecutorPreference(executor) { await work(staying: true) }
    } else {
      await work(staying: true)
    }
    halt()
  }

  /// Asks for one more worker.
  @usableFromInline
  func summonWorker() {
    summon(on: hub.configuration.executor) { await self.workAsStandby() }
  }

  /// Lets no further handler begin; whoever awaited the fan-out does so no longer.
  @usableFromInline
  func halt() {
    next.store(Self.halted, ordering: .sequentiallyConsistent)
    caller?.clear()
  }

  /// Cancels the handlers that run or will.
  @usableFromInline
  func cancel() {
    runningTasks.cancel()
  }

  /// Raises the priority of the handlers that run.
  @usableFromInline
  func escalate(to priority: TaskPriority) {
    runningTasks.escalate(to: priority)
  }

  /// Starts a task for a worker, and counts it.
  func summon(on executor: (any TaskExecutor)?, _ work: @escaping @Sendable () async -> Void) {
    hub.inbox.activity.begin()
    // Detached if nobody asked: the poster's task-locals are not the handlers'.
    if question == nil {
      Task.startDetached(on: executor, work)
    } else {
      Task.start(on: executor, work)
    }
  }

  // MARK: Working

  @inlinable
  var unclaimed: Int { nodes.count - next.load(ordering: .relaxed) }

  var isHalted: Bool { next.load(ordering: .sequentiallyConsistent) >= Self.halted }

  /// The next position that is nobody's yet, or `nil` if none is left.
  @inlinable
  func claim() -> Int? {
    // Without this look the index would grow with each worker that finds nothing.
    guard unclaimed > 0 else { return nil }
    let position = next.wrappingAdd(1, ordering: .relaxed).oldValue
    return position < nodes.count ? position : nil
  }

  func makeWorker() -> Worker {
    Worker(for: nodes, caller: caller, inbox: hub.inbox)
  }

  /// One worker that provides for its successor first.
  ///
  /// It was counted when it was asked for.
  func workAsStandby() async {
    if unclaimed > 1 { summonWorker() }
    await work()
  }

  /// One worker, from its first claim to its last.
  ///
  /// It was counted when it was asked for.
  ///
  /// - Parameter staying: whether even the handlers of subscribers with an executor of their own are
  ///   this worker's to await.
  func work(staying: Bool = false) async {
    if let first = claim() {
      if let question {
        await ask(question, from: first, staying: staying)
      } else {
        await deliver(from: first)
      }
    }
    hub.inbox.workerEnded()
  }
}
