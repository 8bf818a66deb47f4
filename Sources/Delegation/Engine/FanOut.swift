/// One call on many subscribers: the call loop of notifications, and of questions to several.
///
/// *Workers* claim subscriptions from a shared cursor, one at a time and in order, and run each handler
/// in place. While a subscription is unclaimed, one worker has been requested and has claimed nothing: the
/// *standby*. A worker that starts with more than one subscription left requests the next before it
/// claims, unless another one is requesting, which then requests again. So a handler that suspends, or
/// blocks its thread, does not delay the others, and the number of tasks grows with suspensions, not with
/// subscribers.
///
/// There are two exceptions. A question without a deadline starts its first worker in the caller's place,
/// and requests the standby when that worker has suspended; so a handler that blocks its thread there
/// does delay the others. A question that is asked in turn has one worker at a time.
@usableFromInline
final class FanOut: Sendable {
  @usableFromInline
  typealias Claim = Cursor.Claim

  /// One worker's part of a question: asks a claimed subscription, and those that it claims after it.
  ///
  /// It asks the first one in any case, and no other if `isSingle`. It returns a claimed subscription that
  /// has an executor of its own, or `nil` when none is left.
  @usableFromInline
  typealias Question =
    nonisolated(nonsending) @Sendable (FanOut, Worker, _ first: Claim, _ isSingle: Bool) async
    -> Claim?

  /// What workers do with a subscription.
  enum Purpose: Sendable {
    /// They run the handlers of its pending notifications; no caller awaits that.
    case delivery
    /// They ask it the question; the caller awaits the answer.
    case question(for: Caller)
  }

  /// In which order a question is asked.
  @usableFromInline
  enum Order: Sendable {
    /// All subscriptions are asked concurrently, by as many workers as it takes.
    case sideBySide
    /// One subscription is asked after another, by one worker at a time.
    case inTurn
  }

  /// A question that is to be asked.
  ///
  /// It is a type of its own: the runtime would look up that of an optional closure at each access.
  private struct Held: Sendable {
    /// `nil` for a delivery, and once it is halted.
    var question: Question?
  }

  let workplace: any Workplace
  /// The workplace's.
  let activity: Activity
  let purpose: Purpose
  let order: Order
  /// The further protocols that those who are asked must conform to; `nil` for none.
  let narrowing: Narrowing?
  /// The call that asks; `notify` for a delivery, whose notifications have calls of their own.
  @usableFromInline
  let call: CallKind
  @usableFromInline
  let slowWatch: SlowWatch?
  @usableFromInline
  let cursor: Lock<Cursor>
  /// What workers ask.
  ///
  /// So a worker that waits for an executor keeps nothing that the question captured.
  private let held: Lock<Held>
  @usableFromInline
  let runningTasks = RunningTasks()

  /// At this depth and beyond, workers are not started in the caller's place, nor cancelled in the place of who
  /// cancels the caller: each nested fan-out would do so within the one before, and use up the stack.
  private static let deepest = 16

  private init(
    _ purpose: Purpose, in call: CallKind, of nodes: consuming [SubscriptionNode],
    conformingTo narrowing: Narrowing? = nil, inOrder order: Order = .sideBySide,
    for workplace: any Workplace, _ question: Question? = nil
  ) {
    self.workplace = workplace
    activity = workplace.activity
    self.purpose = purpose
    self.order = order
    self.narrowing = narrowing
    self.call = call
    slowWatch = workplace.slowWatch
    cursor = Lock(Cursor(nodes))
    held = Lock(Held(question: question))
  }

  /// Makes a fan-out of pending notifications.
  convenience init(delivering nodes: consuming [SubscriptionNode], for workplace: any Workplace) {
    self.init(.delivery, in: .notify, of: nodes, for: workplace)
  }

  /// Makes a fan-out of a question that the current task awaits.
  @usableFromInline
  convenience init(
    asking nodes: consuming [SubscriptionNode], conformingTo narrowing: Narrowing? = nil,
    inOrder order: Order = .sideBySide, for workplace: any Workplace, in call: CallKind,
    _ question: @escaping Question
  ) {
    self.init(
      .question(for: Caller.present), in: call, of: nodes, conformingTo: narrowing, inOrder: order,
      for: workplace, question)
  }

  // MARK: Starting

  /// Starts the first worker in the caller's place, and returns when it has ended or suspended.
  @usableFromInline
  func startInPlace() {
    guard workplace.executor == nil, isShallow,
      #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    else { return requestWorker() }
    // A task that is started in place has the priority that the caller once began with.
    escalateToCaller()
    activity.begin()
    // The standby is counted before a handler can wait for the rest of the hub: the subscribers that are
    // still to be asked are a part of that.
    activity.begin()
    // In a loop, because only there the compiler sees that no executor is preferred. Otherwise it passes an
    // explicit `nil`, and each of the task's switches takes a lock to find that out.
    for _ in 0..<1 {
      Task.immediate {
        await self.work()
        self.activity.end()
      }
    }
    if unclaimed > 0 { requestWorker() }
    activity.end()
  }

  /// Requests one more worker.
  @usableFromInline
  func requestWorker() {
    if let executor = workplace.executor {
      return startWorker(on: executor) { await self.workAsStandby() }
    }
    // As `startWorker` does, in one closure: each further one is an allocation for each suspension.
    activity.begin()
    switch purpose {
    case .delivery:
      Task.detached {
        await self.workAsStandby()
        self.activity.end()
      }
    case .question:
      Task {
        await self.workAsStandby()
        self.activity.end()
      }
    }
  }

  /// Starts a task for a worker on an executor; it is counted from here until its work is done.
  func startWorker(
    on executor: any TaskExecutor,
    _ work: nonisolated(nonsending) @escaping @Sendable () async -> Void
  ) {
    activity.begin()
    switch purpose {
    case .delivery:
      // Detached: handlers of notifications do not inherit the poster's task-locals.
      Task.startDetached(on: executor) { await self.workAndCountOff(work) }
    case .question:
      Task(executorPreference: executor) { await self.workAndCountOff(work) }
    }
  }

  /// Does a worker's work, then counts the worker off.
  nonisolated(nonsending) func workAndCountOff(
    _ work: nonisolated(nonsending) @Sendable () async -> Void
  ) async {
    await work()
    activity.end()
  }

  // MARK: Stopping

  /// Lets no further handler begin, and releases the question; the caller no longer awaits the fan-out.
  @usableFromInline
  func halt() {
    let rest = cursor.withLock { $0.halt() }
    withExtendedLifetime(rest) {}
    let asked = held.withLock { held in
      defer { held = Held() }
      return held
    }
    withExtendedLifetime(asked) {}
    caller?.clear()
  }

  /// Cancels the handlers that run and those that will.
  ///
  /// - Parameter isInPlace: whether the current thread may run their cancellation handlers, which may
  ///   block it. In place it reaches a handler that keeps the only thread of its executor busy.
  @usableFromInline
  func cancel(inPlace isInPlace: Bool) {
    let isInPlace = isInPlace && isShallow
    runningTasks.cancel(on: workplace.executor, inPlace: isInPlace) { self.runningTasks.endUse() }
  }

  /// Cancels the handlers that run or will, in tasks of its own.
  ///
  /// For one who runs none of them, or whose handler has returned.
  @usableFromInline
  func cancelOthers() {
    withUnsafeCurrentTask { present in
      runningTasks.cancel(except: present, on: workplace.executor, inPlace: false) {
        self.runningTasks.endUse()
      }
    }
  }

  /// Raises the priority of the handlers that run or will, in tasks of its own.
  ///
  /// Whoever raises the caller, or the caller itself, does not run their escalation handlers, which may
  /// block: the caller could not go on at its deadline.
  @usableFromInline
  func escalate(to priority: TaskPriority) {
    runningTasks.escalate(to: priority, on: workplace.executor) { self.runningTasks.endUse() }
  }

  /// Raises the priority to the caller's, if that was raised before the call or while the first worker ran in
  /// its place.
  @usableFromInline
  func escalateToCaller() {
    guard let base = Task<Never, Never>.basePriority else { return }
    let present = Task.currentPriority
    if present > base { escalate(to: present) }
  }

  // MARK: Working

  /// The caller that awaits this fan-out; `nil` for a delivery.
  var caller: Caller? {
    if case .question(let caller) = purpose { caller } else { nil }
  }

  /// What workers ask; `nil` once it is halted.
  var question: Question? { held.withLock { $0 }.question }

  /// Whether it is nested in so few others that the stack is sure to be large enough.
  private var isShallow: Bool { caller?.depth ?? 0 < Self.deepest }

  var unclaimed: Int { cursor.withLock { $0.unclaimed } }

  /// Whether a worker that claims no more has to request another one.
  var needsWorker: Bool { cursor.withLock { $0.needsWorker } }

  /// Claims the next subscription; `nil` if none is left.
  @inlinable
  func claim() -> Claim? {
    guard let claim = cursor.withLock({ $0.claim() }) else { return nil }
    if claim.isLast { releaseRest() }
    return claim
  }

  @usableFromInline
  func releaseRest() {
    let rest = cursor.withLock { $0.release() }
    withExtendedLifetime(rest) {}
  }

  /// Whether a subscription that has not answered is late: not if it ended, or its subscriber died, before
  /// it was asked, and not if its subscriber does not conform.
  ///
  /// Only before the fan-out is halted.
  @usableFromInline
  func isLate(at position: Int) -> Bool {
    guard let node = cursor.withLock({ $0.notBegun(position) }) else { return true }
    // Outside the lock: it may release a subscriber's last reference. One that has died is not terminated
    // here, which may take its time: the caller is to go on.
    return node.isActive && node.isReached(as: narrowing, endingIn: call)
  }

  func makeWorker() -> Worker { Worker(activity: activity, caller: caller) }

  /// Runs one worker, after requesting the next standby.
  nonisolated(nonsending) func workAsStandby() async {
    if case .sideBySide = order { cursor.provideForSuccessor { requestWorker() } }
    await work()
  }

  /// Runs one worker, from its first claim to its last.
  nonisolated(nonsending) private func work() async {
    guard let first = claim() else { return }
    switch purpose {
    case .delivery: await deliver(from: first)
    case .question: await ask(from: first)
    }
  }
}
