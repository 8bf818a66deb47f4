/// One call on many subscribers: the library's only call loop, for notifications and questions alike.
///
/// *Workers* claim subscriptions from a shared cursor, one at a time and in order, and run each handler
/// in place. Whenever something is unclaimed there is one worker that has been asked for and has claimed
/// nothing, the *standby*; one that starts with more than one subscription left asks for the next before
/// it claims, unless another one is asking, which then asks again. So a handler that suspends, or blocks
/// its thread, holds up nobody behind it, and tasks are paid for by the suspension rather than by the
/// subscriber. Two exceptions: a question without a deadline starts its first worker in the caller's
/// place and asks for the standby when that comes back suspended, so that a handler which blocks its
/// thread there does hold up those behind it; and a question that is asked of one after another has one
/// worker at a time, the caller itself or, with a deadline, one of the fan-out's own.
@usableFromInline
final class FanOut: Sendable {
  @usableFromInline
  typealias Claim = Cursor.Claim

  /// One worker's part of a question: asks a claimed subscription, and those that it claims after it.
  ///
  /// Returns one that is claimed and to be asked elsewhere, or `nil` when nothing is left. It asks the
  /// first one even so, and no other if `isSingle`.
  @usableFromInline
  typealias Question =
    nonisolated(nonsending) @Sendable (FanOut, Worker, _ first: Claim, _ isSingle: Bool) async
    -> Claim?

  /// What workers do with a subscription.
  enum Purpose: Sendable {
    /// They run the handlers that wait in its mailbox, which nobody awaits.
    case delivery
    /// They ask it; the caller awaits the answers.
    case question(Question, for: Caller)
  }

  /// In which order a question is asked.
  @usableFromInline
  enum Order: Sendable {
    /// Of all, by as many workers as it takes.
    case sideBySide
    /// Of one after another, by one worker at a time.
    case inTurn
  }

  /// Whose task a worker runs in.
  enum Employment: Sendable {
    /// One of the fan-out's own, which is cancelled and escalated with the others.
    case ownTask
    /// The caller's: even a handler with an executor of its own is this worker's to await.
    case callersTask
  }

  let workplace: any Workplace
  let purpose: Purpose
  let order: Order
  /// The call that asks; `notify` for a delivery, of which each notification knows its own.
  @usableFromInline
  let call: CallKind
  @usableFromInline
  let slowWatch: SlowWatch?
  @usableFromInline
  let cursor: Lock<Cursor>
  @usableFromInline
  let runningTasks = RunningTasks()

  /// From this depth on, workers are not started in the caller's place: it would use up the stack.
  private static let deepest = 16

  private init(
    _ purpose: Purpose, in call: CallKind, of nodes: consuming [SubscriptionNode],
    inOrder order: Order = .sideBySide,
    for workplace: any Workplace
  ) {
    self.workplace = workplace
    self.purpose = purpose
    self.order = order
    self.call = call
    slowWatch = workplace.slowWatch
    cursor = Lock(Cursor(nodes))
  }

  /// Fans out the notifications that wait.
  convenience init(delivering nodes: consuming [SubscriptionNode], for workplace: any Workplace) {
    self.init(.delivery, in: .notify, of: nodes, for: workplace)
  }

  /// Fans out a question that the present code awaits.
  @usableFromInline
  convenience init(
    asking nodes: consuming [SubscriptionNode], inOrder order: Order = .sideBySide,
    for workplace: any Workplace, in call: CallKind, _ question: @escaping Question
  ) {
    self.init(
      .question(question, for: Caller.present), in: call, of: nodes, inOrder: order, for: workplace)
  }

  // MARK: Starting

  /// Starts the first worker in the caller's place, and returns when it is done or has suspended.
  @usableFromInline
  func startInPlace() {
    guard workplace.executor == nil, caller?.depth ?? 0 < Self.deepest,
      #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    else { return summonWorker() }
    workplace.activity.begin()
    // The standby is counted before a handler can wait for the rest of the hub: those behind it are a
    // part of that, with a deadline and without.
    workplace.activity.begin()
    // In a loop, for only there does the compiler see that no executor is preferred: else it passes
    // on that there is none, and each of the task's switches takes a lock to find that out.
    for _ in 0..<1 {
      Task.immediate { await self.workAndCountOff { await self.work(in: .ownTask) } }
    }
    if unclaimed > 0 { summonWorker() }
    workplace.activity.end()
  }

  /// Is the only worker, in the caller's task.
  @usableFromInline
  nonisolated(nonsending) func runInTurn() async {
    workplace.activity.begin()
    if let executor = workplace.executor {
      await withTaskExecutorPreference(executor) { await work(in: .callersTask) }
    } else {
      await work(in: .callersTask)
    }
    halt()
    workplace.activity.end()
  }

  /// Asks for one more worker.
  @usableFromInline
  func summonWorker() {
    summon(on: workplace.executor) { await self.workAsStandby() }
  }

  /// Starts a task for a worker, counted from here until its work is done.
  func summon(
    on executor: (any TaskExecutor)?,
    _ work: nonisolated(nonsending) @escaping @Sendable () async -> Void
  ) {
    workplace.activity.begin()
    switch purpose {
    case .delivery:
      // Nobody asked: the poster's task-locals are not the handlers'.
      Task.startDetached(on: executor) { await self.workAndCountOff(work) }
    case .question:
      Task.start(on: executor) { await self.workAndCountOff(work) }
    }
  }

  /// Does a worker's work, and counts the worker off.
  nonisolated(nonsending) func workAndCountOff(
    _ work: nonisolated(nonsending) @Sendable () async -> Void
  ) async {
    await work()
    workplace.activity.end()
  }

  // MARK: Stopping

  /// Lets no further handler begin; the caller awaits the fan-out no longer.
  @usableFromInline
  func halt() {
    let rest = cursor.withLock { $0.halt() }
    withExtendedLifetime(rest) {}
    caller?.clear()
  }

  /// Cancels the handlers that run or will.
  ///
  /// - Parameter isInPlace: whether the present thread may run their cancellation handlers, which may
  ///   block it.
  @usableFromInline
  func cancel(inPlace isInPlace: Bool) {
    runningTasks.cancel(on: workplace.executor, inPlace: isInPlace) { self.runningTasks.endUse() }
  }

  /// Cancels the handlers that run or will, in tasks of its own.
  ///
  /// For one who runs none of them, or whose handler has returned.
  @usableFromInline
  func cancelOthers() {
    runningTasks.cancelOthers(on: workplace.executor) { self.runningTasks.endUse() }
  }

  /// Raises the priority of the handlers that run or will, in tasks of its own.
  ///
  /// Whoever raises the caller, or the caller itself, does not run their escalation handlers, which may
  /// block: the caller could not go on at its deadline.
  @usableFromInline
  func escalate(to priority: TaskPriority) {
    runningTasks.escalate(to: priority, on: workplace.executor) { self.runningTasks.endUse() }
  }

  /// Raises it to the caller's, if that was raised while the first worker ran in its place.
  @usableFromInline
  func escalateToCaller() {
    guard let base = Task<Never, Never>.basePriority else { return }
    let present = Task.currentPriority
    if present > base { escalate(to: present) }
  }

  // MARK: Working

  /// Who awaits this fan-out; `nil` if notifications are handed over, which nobody awaits.
  var caller: Caller? {
    if case .question(_, let caller) = purpose { caller } else { nil }
  }

  var unclaimed: Int { cursor.withLock { $0.unclaimed } }

  /// Whether a worker that claims no more has to ask for another one.
  var needsWorker: Bool { cursor.withLock { $0.needsWorker } }

  /// The next subscription that is nobody's yet, or `nil` if none is left.
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

  /// Whether a subscription was asked, or could have been: not if it has ended before its turn.
  ///
  /// For one that has not answered, before the fan-out is halted.
  @usableFromInline
  func isLate(at position: Int) -> Bool {
    // Looked at outside the lock: the look may take a subscriber's last reference.
    cursor.withLock { $0.notBegun(position) }?.isActive ?? true
  }

  func makeWorker(
    in employment: Employment = .ownTask, beginningWith first: SubscriptionNode? = nil
  ) -> Worker {
    let hasOwnTask = if case .ownTask = employment { true } else { false }
    return Worker(
      activity: workplace.activity, caller: caller, hasOwnTask: hasOwnTask, first: first)
  }

  /// One worker that provides for its successor first.
  nonisolated(nonsending) func workAsStandby() async {
    if case .sideBySide = order { provideForSuccessor { summonWorker() } }
    await work(in: .ownTask)
  }

  /// Asks for the standby of one that begins, and has claimed nothing.
  ///
  /// - Parameter summon: asks for one worker.
  func provideForSuccessor(_ summon: () -> Void) {
    guard cursor.withLock({ $0.beginStandby() }) else { return }
    repeat { summon() } while cursor.withLock { $0.isToAskAgain() }
  }

  /// One worker, from its first claim to its last.
  nonisolated(nonsending) private func work(in employment: Employment) async {
    guard let first = claim() else { return }
    switch purpose {
    case .delivery: await deliver(from: first)
    case .question(let question, _): await ask(question, from: first, in: employment)
    }
  }
}
