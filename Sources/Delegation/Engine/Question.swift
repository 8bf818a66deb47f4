internal import Synchronization

/// One question while it is asked: the subscriptions that are left, its workers, the answers that are queued, and the
/// caller that waits.
///
/// *Workers* claim subscriptions from a shared ``WorkQueue``, and run each handler in place; a *spare worker* is there
/// while a subscription is unclaimed (``WorkSharing``). A question without a deadline starts its first worker in the
/// caller's place. Whether another one is needed is known when that one has ended or suspended. So a handler that
/// suspends does not delay the others, nor does one that blocks its thread, except in the caller's place; and the
/// number of tasks grows with suspensions, not with subscribers.
///
/// The handles of the workers' tasks are kept, so that they can be cancelled. That runs user code: once it is decided,
/// they are cancelled one after another, in a task of their own.
///
/// It is decided when it holds nothing any more (``State/isDecided``), which is written once, under the lock.
///
/// It knows no types, and nothing generic is under its lock: otherwise its end would look up types at run time, for a
/// fifth of what a small vote costs. What has types is its subclass, ``TalliedQuestion``. This file has what it is made
/// of, its beginning and its end; `Question+Working` has what its workers do, `Question+Counting` what becomes of their
/// answers.
///
/// `@unchecked Sendable`: a class with a subclass cannot be checked. Its properties are constants.
@usableFromInline
class Question: @unchecked Sendable {
  @usableFromInline typealias Claim = WorkQueue.Claim

  /// One worker's part of the question: asks a claimed subscription and those claimed after it, and counts the answers.
  ///
  /// It returns a claimed subscription that has an executor of its own, or `nil` when none is left.
  @usableFromInline typealias Ask = @Sendable (Question, Worker, _ first: Claim) async -> Claim?

  /// What is asked, as long as it is asked.
  ///
  /// It is a type of its own: the runtime would look up that of an optional closure at each access.
  struct Held: Sendable {
    /// `nil` once it is decided.
    var ask: Ask?
  }

  /// What workers and the caller share under the lock.
  struct State: WorkSharing {
    var work: WorkQueue
    /// Workers read it when they begin to ask: one that waits for an executor keeps nothing that the question captured.
    var held: Held
    /// The workers with their tasks, in the order in which they came; `nil` in place of those that have left.
    var workers: [(worker: Worker, task: Task<Void, any Error>)?] = []
    /// The inputs that came while another worker counted.
    var queue: [Input] = []
    /// The claims that were sent to executors, and whose subscriptions have ended since: the caller takes them.
    var ended: [Claim] = []
    /// The caller, once it waits.
    var waiter: Waiter?
    /// Whether the deadline has come before it was decided.
    var isExpired = false

    var isDecided: Bool { held.ask == nil }
  }

  @usableFromInline let core: HubCore
  /// Whether one conforms to the further protocols of those who are asked; `nil` for none.
  let admits: RecipientFilter?
  let call: CallKind
  /// `nil` for none.
  let deadline: Deadline?
  /// Whether there is one: a look at the deadline itself copies it.
  let hasDeadline: Bool
  /// That of the caller when it asks, for each worker's task: one without would not inherit what the caller was raised to.
  let priority = Task.currentPriority
  /// The handler that awaits the question.
  let caller: Caller
  let state: Lock<State>
  /// Written under the lock, or before anybody is asked.
  private let isCancelledFlag = Atomic<Bool>(false)
  /// Whether a worker counts; for good, once it has decided.
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

  /// Begins: in the caller's place if its handlers may run there, and no executor is preferred.
  ///
  /// With a deadline it does not: a handler that blocks its thread must not keep the caller.
  ///
  /// - Parameter isCounted: whether the caller is counted already: from now on it is for the question.
  /// - Returns: whether it is decided; if not, it has to ``awaitDecision()``.
  @usableFromInline
  func begin(isCounted: Bool) -> Bool {
    if let deadline, deadline.isPast {
      countLate()
      return true
    }
    // The caller is counted before a handler can wait for the rest of the hub, until it has requested the spare worker: the
    // subscribers that are still to be asked are a part of that.
    if !isCounted { core.begin() }
    guard !hasDeadline, core.executor == nil, startInPlace() else { return false }
    core.end()
    return true
  }

  /// Starts the first worker in the caller's place, if the stack is large enough; then returns when it has ended or
  /// suspended.
  ///
  /// - Returns: whether the question is decided.
  private func startInPlace() -> Bool {
    guard caller.isShallow, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
      return false
    }
    core.begin()
    if Task.isCancelled { isCancelledFlag.store(true, ordering: .sequentiallyConsistent) }
    let worker = Worker(for: core.number, caller: caller)
    keep(startInPlace(worker), of: worker)
    return isDecided
  }

  /// Goes on, waits until it is decided or for its deadline, and passes on what happens to the caller meanwhile.
  @usableFromInline
  func awaitDecision() async {
    await withTaskCancellationHandler {
      // It is the first worker if none was started in the caller's place.
      state.provideSpare { requestWorker() }
      core.end()
      await wait(until: deadline)
      if isDecided { return }
      // By the caller, so that the combiner's last calls have its task-locals and priority.
      countLate()
      await wait(until: nil)
    } onCancel: {
      cancel()
    }
  }

  /// Whether it is decided.
  var isDecided: Bool { state.withLock { $0.isDecided } }

  /// Waits until it is decided, or for a deadline; meanwhile takes claims whose subscriptions have ended.
  ///
  /// For the caller: the handler of an heir has its task-locals, and not those of the task that ended the subscription.
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

  /// Counts those that have not answered, if the deadline has come: its alarm may have to wait for a thread.
  ///
  /// Called before an answer is counted, so that one that comes after the deadline is late.
  @inline(never)
  func expireIfDue() {
    if let time = deadline?.time, core.deadlines.now() >= time, !isDecided { countLate() }
  }

  /// Counts those that have not answered at the deadline; if nobody had time to answer, nobody is noted to be late.
  @usableFromInline
  func countLate() {}

  // MARK: Cancelling

  /// Whether the handlers that run and those that will are to be cancelled.
  var isCancelled: Bool { isCancelledFlag.load(ordering: .sequentiallyConsistent) }

  /// Keeps a worker's task, unless it has ended, or all it has yet to do is to end; it is cancelled if the others have
  /// been: apart, if it was decided meanwhile, for the current task may be the caller, which is to go on.
  func keep(_ task: Task<Void, any Error>, of worker: Worker) {
    let (mustCancel, isDecided) = state.withLock { state in
      if worker.index < 0 { return (false, false) }
      state.workers.append((worker, task))
      worker.index = state.workers.count
      return (isCancelled, state.isDecided)
    }
    if mustCancel { cancel([task], isApart: isDecided) }
  }

  /// Cancels the handlers that run and those that will.
  private func cancel() { cancel(state.withLock { beginCancelling(&$0, except: nil) }) }

  /// Cancels tasks in the current one's place, if the stack is large enough for what that cancels in turn; otherwise in a
  /// task of its own.
  ///
  /// With a deadline always there: a cancellation handler that blocks must not keep the caller, nor who cancels it.
  func cancel(_ tasks: [Task<Void, any Error>], isApart: Bool = false) {
    if tasks.isEmpty { return }
    let cancel = { @Sendable in for task in tasks { task.cancel() } }
    if !isApart, caller.isShallow, !hasDeadline { return cancel() }
    Task.startDetached(on: core.executor, priority: .high) { cancel() }
  }

  /// Notes that the handlers are cancelled, under the lock.
  ///
  /// - Returns: the tasks that have to be cancelled, as far as they are known, in the order of their workers.
  func beginCancelling(_ state: inout State, except worker: Worker?) -> [Task<Void, any Error>] {
    isCancelledFlag.store(true, ordering: .sequentiallyConsistent)
    if let worker { state.leave(worker) }
    return state.workers.compactMap { $0?.task }
  }
}

extension Question.State {
  /// Notes that all that a worker's task has yet to do is to end.
  mutating func leave(_ worker: Worker) {
    if worker.index > 0 { workers[worker.index - 1] = nil }
    worker.index = -1
  }
}
