internal import Synchronization

/// One question while it is asked: the subscriptions that are left, its workers, and the caller that waits.
///
/// *Workers* claim subscriptions from a shared ``Cursor``, and run each handler in place; a *standby* is there while a
/// subscription is unclaimed (``Claimable``). A question without a deadline starts its first worker in the caller's
/// place. Whether another one is needed is known when that one has ended or suspended. So a handler that suspends does
/// not delay the others, nor does one that blocks its thread, except in the caller's place; and the number of tasks
/// grows with suspensions, not with subscribers.
///
/// The handles of the workers' tasks are kept, so that they can be cancelled. That runs user code: once it is decided,
/// they are cancelled one after another, in a task of their own.
///
/// It knows no types: what has them is its ``Question``. This file has what it is made of, its beginning, and its
/// cancellation; `Round+Working` has what its workers do, `Round+Counting` what becomes of their answers.
@usableFromInline
final class Round: Sendable {
  @usableFromInline
  typealias Claim = Cursor.Claim

  /// One worker's part of the question: asks a claimed subscription and those claimed after it, and counts the answers.
  ///
  /// It returns a claimed subscription that has an executor of its own, or `nil` when none is left.
  @usableFromInline
  typealias Question = @Sendable (Round, Worker, _ first: Claim) async -> Claim?

  /// Counts those that have not answered at the deadline; that they are late is noted if the time of the question is
  /// given.
  @usableFromInline
  typealias Expire = @Sendable (Round, Duration?) -> Void

  /// What is asked, as long as it is asked.
  ///
  /// It is a type of its own: the runtime would look up that of an optional closure at each access.
  struct Held: Sendable {
    /// `nil` once it is decided.
    var question: Question?
    /// `nil` for none, and once it is decided.
    var expiry: Expiry?
  }

  /// A deadline, and what counts those that have not answered by then.
  ///
  /// It is an object: most questions have none, and what can be empty is copied by its type, which is looked up.
  final class Expiry: Sendable {
    let deadline: Deadline
    private let expire: Expire

    init(at deadline: Deadline, _ expire: @escaping Expire) {
      self.deadline = deadline
      self.expire = expire
    }

    /// Counts them; if nobody had time to answer, nobody is noted to be late.
    func count(in round: Round) { expire(round, deadline.isPast ? nil : deadline.start) }
  }

  /// What workers and the caller share under the lock.
  struct State: Claimable {
    var cursor: Cursor
    /// Workers read it when they begin to ask: one that waits for an executor keeps nothing that the question captured.
    var held: Held
    var workers = WorkerTasks()
    var poll = PollState()
    /// Whether the deadline has come before it was decided.
    var isExpired = false

    /// Whether the poll is decided.
    var isDecided: Bool { held.question == nil }

    /// Counts it as asked, unless it has an executor of its own: then it is when it begins there.
    mutating func note(_ claim: inout Claim) {
      if !claim.node.hasExecutor { claim.count() }
    }
  }

  let executor: (any TaskExecutor)?
  let activity: Activity
  @usableFromInline
  let interception: Interception?
  /// Whether one conforms to the further protocols of those who are asked; `nil` for none.
  let admits: Admission?
  let call: CallKind
  @usableFromInline
  let hasDeadline: Bool
  /// The handler that awaits the question.
  let caller: Caller
  let state: Lock<State>
  /// Written under the lock, or before anybody is asked.
  private let isCancelledFlag = Atomic<Bool>(false)
  /// Whether a worker has taken the poll's ballot; for good, once it has decided.
  ///
  /// Taken with or without the lock, given back under it.
  let isBallotTaken = Atomic<Bool>(false)

  /// Makes a round of a question that the current task awaits.
  init(
    asking nodes: consuming [SubscriptionNode], from first: Int = 0,
    admittedBy admits: Admission? = nil,
    for workplace: some Workplace, in call: CallKind, expiring expiry: Expiry? = nil,
    _ question: @escaping Question
  ) {
    executor = workplace.executor
    activity = workplace.activity
    interception = workplace.interception
    caller = Caller.present
    self.admits = admits
    self.call = call
    hasDeadline = expiry != nil
    state = Lock(
      State(cursor: Cursor(nodes, from: first), held: Held(question: question, expiry: expiry)))
  }

  // MARK: Starting

  /// Starts the first worker in the caller's place, if the stack is large enough; then returns when it has ended or
  /// suspended.
  ///
  /// - Returns: whether the poll is decided; if not, it has to ``goOn()``.
  func start() -> Bool {
    guard caller.isShallow, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
      return false
    }
    activity.begin()
    if Task.isCancelled { isCancelledFlag.store(true, ordering: .sequentiallyConsistent) }
    let worker = Worker(activity: activity, caller: caller, at: WorkerTasks.firstPlace)
    keep(startInPlace(worker), at: WorkerTasks.firstPlace)
    return isDecided
  }

  /// Requests the standby, which is the first worker if none was started in the caller's place, if one is unclaimed.
  func goOn() {
    state.provideStandby { requestWorker() }
  }

  /// Keeps a worker's task, which is cancelled if the others have been.
  func keep(_ task: Task<Void, any Error>, at place: Int) {
    if state.withLock({ $0.workers.keep(task, at: place) }) { task.cancel() }
  }

  // MARK: Cancelling

  /// Whether the handlers that run and those that will are to be cancelled.
  var isCancelled: Bool { isCancelledFlag.load(ordering: .sequentiallyConsistent) }

  /// Cancels the handlers that run and those that will; in the place of who cancels the caller, if the stack is large
  /// enough for what that cancels in turn.
  func cancel() {
    let tasks = state.withLock { beginCancelling(&$0, except: nil) }
    guard caller.isShallow else { return cancelApart(tasks) }
    for task in tasks { task.cancel() }
  }

  /// Cancels tasks in a task of its own.
  func cancelApart(_ tasks: [Task<Void, any Error>]) {
    if tasks.isEmpty { return }
    Task.startDetached(on: executor, priority: .high) { for task in tasks { task.cancel() } }
  }

  /// The deadline; `nil` for none, and once it is decided.
  var expiry: Expiry? { state.withLock { $0.held.expiry } }

  /// Notes that the handlers are cancelled, under the lock.
  ///
  /// - Returns: the tasks that have to be cancelled.
  func beginCancelling(_ state: inout State, except place: Int?) -> [Task<Void, any Error>] {
    isCancelledFlag.store(true, ordering: .sequentiallyConsistent)
    return state.workers.cancel(except: place)
  }
}
