internal import Synchronization

/// One question while it is asked: the subscriptions that are left, its workers, the queued answers, and the caller
/// that waits.
///
/// *Workers* claim subscriptions from a shared ``WorkQueue``, and run their handlers; ``WorkSharing`` says when a
/// *spare worker* is requested. So a handler that suspends does not delay the others. If the first worker starts on the
/// caller's thread (``begin(isCallerCounted:)``), the spare worker is requested only when a handler suspends: a handler
/// that blocks this thread delays the others.
///
/// The question is decided when it has released the closure that asks (``State/isDecided``), which happens once, under
/// the lock.
///
/// This class is not generic, and nothing generic is under its lock: otherwise its release would look up types at run
/// time, a fifth of the cost of a small vote. The subclass ``TalliedQuestion`` is generic, and counts the answers.
///
/// `@unchecked Sendable`: a class with a subclass cannot be checked. Its properties are constants.
@usableFromInline
class Question: @unchecked Sendable {
  @usableFromInline typealias Claim = WorkQueue.Claim

  /// One worker's part: asks a claimed subscription and those that the worker claims next, and counts the answers.
  ///
  /// Returns a claimed subscription that has to be sent to its own executor; `nil` when none is left.
  @usableFromInline typealias Ask = @Sendable (Question, Worker, _ first: Claim) async -> Claim?

  /// The closure that asks, until the question is decided.
  ///
  /// A struct: the runtime would look up the type of a bare optional closure at each access.
  struct Held: Sendable {
    var ask: Ask?
  }

  /// What workers and the caller share under the lock.
  struct State: WorkSharing {
    var work: WorkQueue
    /// A worker takes the closure only when it begins to ask, so a worker that waits for an executor does not retain
    /// what the closure captured.
    var held: Held
    /// The workers with their tasks, in the order in which they were added; `nil` for those that have left.
    var workers: [(worker: Worker, task: Task<Void, any Error>)?] = []
    /// The answers, and the deadline, that wait for the worker that counts.
    var queue: [Input] = []
    /// The claims whose subscriptions ended after the claims were sent to executors; the caller takes these claims.
    var ended: [Claim] = []
    /// What resumes the caller, once the caller waits.
    var waiter: Waiter?
    /// Whether the deadline came before the decision.
    var isExpired = false

    var isDecided: Bool { held.ask == nil }
  }

  @usableFromInline let core: HubCore
  /// See ``Recipients/admits``.
  let admits: RecipientFilter?
  let call: CallKind
  let deadline: Deadline?
  /// Whether there is a deadline; to look at `deadline` would copy it.
  let hasDeadline: Bool
  /// The caller's priority when it asks; workers' tasks would not inherit a raised one.
  let priority = Task.currentPriority
  let caller: Caller
  let state: Lock<State>
  /// Written under the lock, or before anybody is asked.
  private let isCancelledFlag = Atomic<Bool>(false)
  /// Whether a worker counts answers; stays true once that worker has decided.
  ///
  /// Set with or without the lock, cleared under the lock.
  let isCounting = Atomic<Bool>(false)

  @usableFromInline
  init(
    to nodes: consuming [SubscriptionNode], from first: Int, admittedBy admits: RecipientFilter?,
    of core: HubCore, in call: CallKind, until deadline: Deadline?, _ ask: @escaping Ask
  ) {
    (self.core, caller, self.admits, self.call) = (core, Caller.present, admits, call)
    (self.deadline, hasDeadline) = (deadline, deadline != nil)
    state = Lock(State(work: WorkQueue(nodes, from: first, marksAsked: true), held: Held(ask: ask)))
  }

  // MARK: Beginning and finishing

  /// Begins, if possible with the first worker at once on the caller's thread.
  ///
  /// This is possible without a deadline or an executor of the hub, while few calls are nested. With a deadline, a
  /// handler that blocks its thread must not block the caller.
  ///
  /// - Parameter isCallerCounted: whether the caller is already counted as a worker; the question ends this count.
  /// - Returns: whether the question is decided; if not, the caller has to ``awaitDecision()``.
  @usableFromInline
  func begin(isCallerCounted: Bool) -> Bool {
    if let deadline, deadline.isPast {
      countLate()
      return true
    }
    // The caller stays counted as a worker until the spare one is requested: so a `drain` in the first handler also
    // waits for subscribers that are yet to be asked.
    if !isCallerCounted { core.countWorker() }
    guard !hasDeadline, core.executor == nil, caller.isShallow,
      #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    else { return false }
    core.countWorker()
    if Task.isCancelled { isCancelledFlag.store(true, ordering: .sequentiallyConsistent) }
    let worker = Worker(for: core.number, caller: caller)
    // `startHere` returns when the worker has ended or suspended.
    guard add(startHere(worker), of: worker) else { return false }
    core.uncountWorker()
    return true
  }

  /// Requests a spare worker, then waits for the decision, which the deadline forces; cancels handlers if the caller is
  /// cancelled.
  @usableFromInline
  func awaitDecision() async {
    await withTaskCancellationHandler {
      // If no worker was started on the caller's thread, the spare worker is the first.
      state.provideSpare { startWorker() }
      core.uncountWorker()
      await wait(until: deadline)
      if isDecided { return }
      // The caller counts the late subscribers, so that the combiner's last calls have the caller's task-locals and
      // priority.
      countLate()
      // If a worker is counting, that worker decides, and the caller waits.
      await wait(until: nil)
    } onCancel: {
      let tasks = state.withLock { beginCancelling(&$0, except: nil) }
      if !tasks.isEmpty { cancel(tasks) }
    }
  }

  var isDecided: Bool { state.withLock { $0.isDecided } }

  /// Waits for the decision or a deadline; until then, runs the claims that come into ``State/ended``.
  ///
  /// The caller runs these claims: the task that it starts for a replacement inherits the caller's task-locals, and not
  /// those of the task that subscribed the replacement.
  private func wait(until deadline: Deadline?) async {
    while true {
      let waiter = Waiter()
      let (isOver, ended) = state.withLock { state in
        state.waiter = waiter
        return (state.isDecided, exchange(&state.ended, with: []))
      }
      for claim in ended { await run(.init(for: core.number, caller: caller, only: true), claim) }
      if isOver { return }
      let cancelAlarm = deadline?.schedule { waiter.resume(false) }
      defer { cancelAlarm?() }
      if await !waiter.wait() || isDecided { return }
    }
  }

  /// If the deadline has come, counts the subscribers that have not answered: the alarm may still wait for a thread.
  ///
  /// Called before an answer is counted, so that an answer after the deadline is late.
  @inline(never)
  func expireIfDue() {
    if let time = deadline?.time, core.deadlines.now() >= time, !isDecided { countLate() }
  }

  /// Counts the subscribers that have not answered at the deadline, and reports them as late: overridden in
  /// ``TalliedQuestion``.
  ///
  /// Reports nobody if the deadline was past when the question began.
  @usableFromInline
  func countLate() {}

  // MARK: Cancelling

  /// Whether the question's running handlers and later ones are to be cancelled.
  var isCancelled: Bool { isCancelledFlag.load(ordering: .sequentiallyConsistent) }

  /// Keeps a worker's task, unless the worker has left; cancels the task if the question is cancelled.
  ///
  /// Once the question is decided, another task cancels: the current one may be the caller's, which must not wait.
  ///
  /// - Returns: whether the question is decided.
  @discardableResult
  func add(_ task: Task<Void, any Error>, of worker: Worker) -> Bool {
    let (mustCancel, isDecided) = state.withLock { state in
      if worker.index < 0 { return (false, state.isDecided) }
      state.workers.append((worker, task))
      worker.index = state.workers.count
      return (isCancelled, state.isDecided)
    }
    if mustCancel { cancel([task], inOwnTask: isDecided) }
    return isDecided
  }

  /// Cancels workers' tasks: in another task if `inOwnTask`, many calls are nested, or there is a deadline; else here.
  ///
  /// Cancelled handlers cancel their own questions, all on one stack. With a deadline, a cancellation handler that
  /// blocks must block neither the caller nor its canceller.
  func cancel(_ tasks: [Task<Void, any Error>], inOwnTask: Bool = false) {
    let cancel = { @Sendable in for task in tasks { task.cancel() } }
    if !inOwnTask, caller.isShallow, !hasDeadline { return cancel() }
    Task.startDetached(on: core.executor, priority: .high) { cancel() }
  }

  /// Notes, under the lock, that handlers are to be cancelled, and that `worker` has left.
  ///
  /// - Returns: the tasks to cancel, in the order of their workers; ``add(_:of:)`` cancels later ones.
  func beginCancelling(_ state: inout State, except worker: Worker?) -> [Task<Void, any Error>] {
    isCancelledFlag.store(true, ordering: .sequentiallyConsistent)
    if let worker { state.leave(worker) }
    return state.workers.compactMap { $0?.task }
  }
}

extension Question.State {
  /// Notes that a worker has left: its task only has to end.
  mutating func leave(_ worker: Worker) {
    if worker.index > 0 { workers[worker.index - 1] = nil }
    worker.index = -1
  }
}
