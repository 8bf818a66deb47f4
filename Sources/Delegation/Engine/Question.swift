internal import Synchronization

/// One question while it is asked: the subscriptions that are left, its workers, the queued answers, and the caller
/// that waits.
///
/// *Workers* claim subscriptions from a shared ``WorkQueue``, and run their handlers; while a subscription is
/// unclaimed, a *spare worker* has been requested (``WorkSharing``). A question without a deadline starts its first
/// worker on the caller's thread; when that worker has ended or suspended, the question knows whether it needs another.
/// So a handler that suspends does not delay the others, nor does one that blocks its thread, except on the caller's;
/// and the number of tasks grows with suspensions, not with subscribers.
///
/// The question keeps the workers' tasks, to cancel them. Cancelling runs user code: once the question is decided, one
/// task of its own cancels them all.
///
/// The question is decided when it has released the closure that asks (``State/isDecided``), which happens once, under
/// the lock.
///
/// This class knows no types, and nothing generic is under its lock: otherwise its end would look up types at run time,
/// for a fifth of what a small vote costs. Its subclass ``TalliedQuestion`` has the types, and counts the answers;
/// `Question+Working` has what workers do.
///
/// `@unchecked Sendable`: a class with a subclass cannot be checked. Its properties are constants.
@usableFromInline
class Question: @unchecked Sendable {
  @usableFromInline typealias Claim = WorkQueue.Claim

  /// One worker's part of the question: asks a claimed subscription and those claimed after it, and counts the answers.
  ///
  /// Returns a claimed subscription that has an executor of its own; `nil` when none is left.
  @usableFromInline typealias Ask = @Sendable (Question, Worker, _ first: Claim) async -> Claim?

  /// What is asked, until the decision.
  ///
  /// A type of its own: the runtime would look up the type of an optional closure at each access.
  struct Held: Sendable {
    /// `nil` once the question is decided.
    var ask: Ask?
  }

  /// What workers and the caller share under the lock.
  struct State: WorkSharing {
    var work: WorkQueue
    /// Workers read it when they begin to ask: a worker that waits for an executor retains nothing that the closure
    /// captured.
    var held: Held
    /// The workers with their tasks, in the order in which they came; `nil` for those that have left.
    var workers: [(worker: Worker, task: Task<Void, any Error>)?] = []
    /// The inputs that came while another worker counted.
    var queue: [Input] = []
    /// The claims that were sent to executors, and whose subscriptions ended there: the caller takes them.
    var ended: [Claim] = []
    /// The caller, once it waits.
    var waiter: Waiter?
    /// Whether the deadline came before the decision.
    var isExpired = false

    var isDecided: Bool { held.ask == nil }
  }

  @usableFromInline let core: HubCore
  /// Whether a subscriber conforms to the call's further protocols; `nil` if there are none.
  let admits: RecipientFilter?
  let call: CallKind
  let deadline: Deadline?
  /// A look at `deadline` would copy it.
  let hasDeadline: Bool
  /// The caller's priority when it asks: a worker's task without it would not inherit a priority that the caller was
  /// raised to.
  let priority = Task.currentPriority
  /// What the question knows of its caller.
  let caller: Caller
  let state: Lock<State>
  /// Written under the lock, or before anybody is asked.
  private let isCancelledFlag = Atomic<Bool>(false)
  /// Whether a worker counts answers; it stays set once that worker has decided.
  ///
  /// Set with or without the lock, cleared under it.
  let isCounting = Atomic<Bool>(false)

  /// Makes a question that the current task awaits.
  @usableFromInline
  init(
    to nodes: consuming [SubscriptionNode], from first: Int, admittedBy admits: RecipientFilter?,
    of core: HubCore, in call: CallKind, until deadline: Deadline?, _ ask: @escaping Ask
  ) {
    (self.core, caller, self.admits, self.call) = (core, Caller.present, admits, call)
    (self.deadline, hasDeadline) = (deadline, deadline != nil)
    state = Lock(
      State(work: WorkQueue(nodes, from: first, isCounting: true), held: Held(ask: ask)))
  }

  // MARK: Beginning and finishing

  /// Begins, and without a deadline or a preferred executor runs the first worker at once on the caller's thread, if
  /// the stack is large enough.
  ///
  /// With a deadline, a handler that blocks its thread must not block the caller.
  ///
  /// - Parameter isCounted: whether the caller is counted already; from now on the question ends that count.
  /// - Returns: whether the question is decided; if not, the caller has to ``awaitDecision()``.
  @usableFromInline
  func begin(isCounted: Bool) -> Bool {
    if let deadline, deadline.isPast {
      countLate()
      return true
    }
    // The caller counts until it has requested the spare worker: a handler that waits for the rest of the hub then also
    // waits for the subscribers that are yet to be asked.
    if !isCounted { core.countWorker() }
    guard !hasDeadline, core.executor == nil, caller.isShallow,
      #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    else { return false }
    core.countWorker()
    if Task.isCancelled { isCancelledFlag.store(true, ordering: .sequentiallyConsistent) }
    let worker = Worker(for: core.number, caller: caller)
    // Returns when the worker has ended or suspended.
    guard add(startHere(worker), of: worker) else { return false }
    core.uncountWorker()
    return true
  }

  /// Requests the spare worker, waits for the decision or the deadline, and passes on the caller's cancellation.
  @usableFromInline
  func awaitDecision() async {
    await withTaskCancellationHandler {
      // This is the first worker if none was started on the caller's thread.
      state.provideSpare { startWorker() }
      core.uncountWorker()
      await wait(until: deadline)
      if isDecided { return }
      // The caller counts, so that the combiner's last calls have its task-locals and priority.
      countLate()
      await wait(until: nil)
    } onCancel: {
      let tasks = state.withLock { beginCancelling(&$0, except: nil) }
      if !tasks.isEmpty { cancel(tasks) }
    }
  }

  var isDecided: Bool { state.withLock { $0.isDecided } }

  /// Waits for the decision, or for a deadline; meanwhile takes claims whose subscriptions have ended.
  ///
  /// Called by the caller: so a replacement's handler has the caller's task-locals, and not those of the task that
  /// replaced.
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

  /// Counts those that have not answered, if the deadline has come: the alarm may have to wait for a thread.
  ///
  /// Called before an answer is counted, so that an answer after the deadline is late.
  @inline(never)
  func expireIfDue() {
    if let time = deadline?.time, core.deadlines.now() >= time, !isDecided { countLate() }
  }

  /// Counts those that have not answered at the deadline; if the deadline had passed at the start, it reports nobody as
  /// late.
  @usableFromInline
  func countLate() {}

  // MARK: Cancelling

  /// Whether the present handlers and later ones are to be cancelled.
  var isCancelled: Bool { isCancelledFlag.load(ordering: .sequentiallyConsistent) }

  /// Keeps a worker's task, unless the worker has left; cancels the task if the question is cancelled.
  ///
  /// Once the question is decided, a task of its own cancels: the current one may be the caller's, which is to go on.
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

  /// Cancels tasks in the current task, if the stack is large enough for what that cancels in turn; otherwise in
  /// another.
  ///
  /// With a deadline always in another: a cancellation handler that blocks must block neither the caller nor its
  /// canceller.
  func cancel(_ tasks: [Task<Void, any Error>], inOwnTask: Bool = false) {
    let cancel = { @Sendable in for task in tasks { task.cancel() } }
    if !inOwnTask, caller.isShallow, !hasDeadline { return cancel() }
    Task.startDetached(on: core.executor, priority: .high) { cancel() }
  }

  /// Notes that the handlers are cancelled, under the lock.
  ///
  /// - Returns: the known tasks that have to be cancelled, in the order of their workers.
  func beginCancelling(_ state: inout State, except worker: Worker?) -> [Task<Void, any Error>] {
    isCancelledFlag.store(true, ordering: .sequentiallyConsistent)
    if let worker { state.leave(worker) }
    return state.workers.compactMap { $0?.task }
  }
}

extension Question.State {
  /// Notes that a worker has left: all that its task has yet to do is to end.
  mutating func leave(_ worker: Worker) {
    if worker.index > 0 { workers[worker.index - 1] = nil }
    worker.index = -1
  }
}
