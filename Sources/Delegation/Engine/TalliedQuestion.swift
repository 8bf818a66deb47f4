internal import Synchronization

/// The generic part of a question: its tally and its decision.
///
/// Generic over the tally as a whole, so that the runtime looks up one type.
///
/// `@unchecked Sendable`: once the question is shared, only the worker that counts (``Question/isCounting``) accesses
/// the variables, and the worker that decides never stops counting. The caller takes `outcome` after it has read under
/// the lock that the question is decided.
@_fixed_layout @usableFromInline
final class TalliedQuestion<Count: Tallying>: Question, @unchecked Sendable {
  @usableFromInline @exclusivity(unchecked) var tally: Count
  /// The decision; empty before it, and when the caller has taken it.
  ///
  /// An array: the runtime would look up the type of an optional when the question is released.
  @usableFromInline @exclusivity(unchecked) var outcome: [Count.Decision] = []

  /// The subscriptions; empty without a deadline, and after the decision.
  @usableFromInline @exclusivity(unchecked) var nodes: [SubscriptionNode] = []
  /// Gives what counts at the deadline for a subscription; `nil` stands for one that is gone or does not conform.
  @usableFromInline @exclusivity(unchecked) var late:
    (@Sendable (SubscriptionNode?) -> Count.Event)?

  @inlinable
  init(
    _ tally: Count, of nodes: consuming [SubscriptionNode], from first: Int = 0,
    admittedBy admits: RecipientFilter?, in core: HubCore, _ call: CallKind,
    until deadline: Deadline? = nil,
    late: (@Sendable (SubscriptionNode?) -> Count.Event)? = nil, _ ask: @escaping Ask
  ) {
    (self.tally, self.late) = (tally, late)
    if late != nil { self.nodes = nodes }
    super.init(to: nodes, from: first, admittedBy: admits, of: core, in: call, until: deadline, ask)
  }

  @inlinable
  deinit {}

  /// Takes the decision, so that handlers that still run, and retain the question, do not retain the decision.
  ///
  /// Called by the caller, once the question is decided.
  @inlinable @inline(never)
  func takeDecision() -> Count.Decision {
    guard let decision = outcome.popLast() else {
      fatalError("Delegation: a question went on undecided")
    }
    return decision
  }

  /// Counts an answer, or queues it for the worker that counts, and claims the next subscription for `worker`.
  ///
  /// If the answer decides, ends the question instead, and resumes the caller.
  ///
  /// - Returns: the next claim; `nil` if there is none.
  @inlinable @inline(never)
  func take(_ answer: Count.Event, from claim: Claim, by worker: Worker) -> Claim? {
    let position = claim.position
    if beginCounting(ending: claim.node, by: worker) {
      return conclude(setDecision(tally.count(answer, from: position)), by: worker)
    }
    let isCounting = enqueue(ending: claim.node, by: worker) {
      self.setDecision(self.tally.count(answer, from: position))
    }
    return isCounting ? conclude(false, by: worker) : claimNext(for: worker, counting: false).next
  }

  @usableFromInline
  override func countLate() {
    let (begun, start) = (expire(), deadline.flatMap { $0.isPast ? nil : $0.start })
    expire { [self] position in
      let node = nodes[position].replacement ?? nodes[position]
      let isLate = node.isLate(admittedBy: admits, in: call, notingSince: start, if: begun)
      guard let late else { fatalError("Delegation: a question expired that has no deadline") }
      return late(isLate ? node : nil)
    }
  }

  /// Has the subscribers counted that had not answered at the deadline, which decides.
  ///
  /// - Parameter absence: what counts for the subscriber at a position.
  @inlinable @inline(never)
  func expire(counting absence: @escaping @Sendable (Int) -> Count.Event) {
    if enqueue({ self.setDecision(self.tally.expire(counting: absence)) }) {
      _ = conclude(false, by: nil)
    }
  }

  /// Counts the queued answers, then stops counting; if an answer has decided, ends the question instead.
  ///
  /// - Parameters:
  ///   - isDecided: whether the answer counted before has decided.
  ///   - worker: the worker that counts; `nil` at the deadline.
  /// - Returns: the worker's next claim; `nil` if there is none.
  @inlinable
  func conclude(_ isDecided: Bool, by worker: Worker?) -> Claim? {
    if !isDecided {
      let (isDecided, next) = claimNext(for: worker, counting: true)
      if !isDecided { return next }
    }
    end(by: worker)
    return nil
  }

  /// Ends the decided question; inlined, this would make each answer that decides nothing dearer.
  @inlinable @inline(never)
  func end(by worker: Worker?) {
    let isComplete = tally.clear()
    if late != nil { (nodes, late) = ([], nil) }
    // Last, because this resumes the caller.
    end(cancelling: !isComplete, by: worker)
  }

  @inlinable
  func setDecision(_ decision: Count.Decision?) -> Bool {
    guard let decision else { return false }
    outcome = [decision]
    return true
  }
}

extension TalliedQuestion {
  /// Does one worker's part within interceptors, as ``Question/run(from:as:counting:asking:)`` does without.
  ///
  /// Not inlined into clients, whose code only tests whether there are interceptors. So this is not specialized, and
  /// looks up each generic type at run time, for 300 instructions.
  @usableFromInline
  func run<A: Asking>(
    from first: Claim, as worker: Worker, within interception: Interception, _ asking: A
  ) async -> Claim? where Count.Event == Answer<A.Response, A.Failure> {
    await run(from: first, as: worker) { answer, claim in
      take(answer, from: claim, by: worker)
    } asking: { node in
      guard node.isReached(by: admits, endingIn: call) else { return node.absence() }
      var answer = Answer<A.Response, A.Failure>.absence
      var isPassedOn = false
      // The subscriber counts as unasked until the innermost interceptor calls the handler.
      worker.note(.unasked)
      await interception.run(DelegateHub.HandlerCall(call, on: node)) {
        isPassedOn = true
        // The subscription may have ended, or the question been decided, while the interceptors ran.
        guard node.isOpen, !isDecided else { return .notCalled }
        worker.note(.answered)
        answer = await asking.answer(of: node, in: self)
        return worker.outcome
      }
      if isPassedOn { return answer }
      // What `absent:` says of a late subscriber also holds for one that interceptors keep from answering.
      if case .substitute(let response) = asking.late?(node) { return .substitute(response) }
      return .absence
    }
  }
}

/// What becomes of a question's answers: one worker counts, and the others queue theirs.
///
/// The combiner is user code, so it never runs under a lock.
extension Question {
  /// What is to be counted: an answer, or the deadline.
  struct Input: Sendable {
    /// The subscription whose call the answer ends; `nil` for the deadline.
    let node: SubscriptionNode?
    /// How the call ends if the answer is counted.
    let end: CallEnd
    /// What the handler threw, if that is to be reported when the call ends.
    let failure: (any Error)?
    /// Counts the input, and returns whether that decides.
    let count: @Sendable () -> Bool
  }

  /// If no other worker counts, begins to count, and ends the subscription's call.
  ///
  /// If the deadline has come, first counts the late subscribers. The call ends before its answer is counted. So what
  /// is counted was answered in time, a call that is outstanding at the deadline is late, and an answer that is never
  /// counted is abandoned.
  ///
  /// The worker that counts stops under the lock, and only if nothing is queued. Another worker queues its answer under
  /// the lock, and tries to begin in the same section: so one of the two workers counts the answer.
  @usableFromInline
  func beginCounting(ending node: SubscriptionNode, by worker: Worker) -> Bool {
    if hasDeadline { expireIfDue() }
    guard isCounting.claim() else { return false }
    worker.end(node, in: call, isCancelled: isCancelled)
    return true
  }

  /// Queues an input for the worker that counts; after the decision, only ends its call.
  ///
  /// `node` and `worker` are `nil` at the deadline.
  ///
  /// - Returns: whether the current worker counts from now on, beginning with the queue.
  @usableFromInline
  func enqueue(
    ending node: SubscriptionNode? = nil, by worker: Worker? = nil,
    _ count: @escaping @Sendable () -> Bool
  ) -> Bool {
    worker?.end()
    let (end, failure) = worker?.takeEnd(isCancelled: isCancelled) ?? (.answered, nil)
    let input = Input(node: node, end: end, failure: failure, count: count)
    let (isOver, isCounting) = state.withLock { state in
      if state.isDecided { return (true, false) }
      state.queue.append(input)
      return (false, self.isCounting.claim())
    }
    if isOver { endUncounted(input) }
    return isCounting
  }

  /// Claims a worker's next subscription; if the worker counts, first counts the queue, and then stops counting.
  ///
  /// `worker` is `nil` at the deadline.
  ///
  /// - Returns: whether a queued answer has decided, and the next claim, if any.
  @usableFromInline
  func claimNext(for worker: Worker?, counting isCounting: Bool) -> (isDecided: Bool, next: Claim?)
  {
    let mayClaim = worker.map { !$0.isSent } ?? false
    while true {
      let (queued, next) = state.withLock { state -> ([Input], Claim?) in
        if isCounting {
          if !state.queue.isEmpty { return (exchange(&state.queue, with: []), nil) }
          self.isCounting.store(false, ordering: .releasing)
        }
        return ([], mayClaim ? state.work.claim() : nil)
      }
      if queued.isEmpty {
        if let next, next.isLast { state.releaseList() }
        return (false, next)
      }
      if count(queued) { return (true, nil) }
    }
  }

  /// Ends the queued calls and counts their answers, until one decides; puts the rest back into the queue.
  private func count(_ queued: [Input]) -> Bool {
    for (index, input) in queued.enumerated() {
      input.node?.endCall(as: input.end, throwing: input.failure, in: call)
      guard input.count() else { continue }
      state.withLock { $0.queue.insert(contentsOf: queued[(index + 1)...], at: 0) }
      return true
    }
    return false
  }

  /// Ends the question, which is decided: no further handler begins, and the caller goes on.
  ///
  /// - Parameters:
  ///   - isCancelling: whether handlers are running that are to be cancelled.
  ///   - worker: the worker that has decided, whose handler has returned; `nil` at the deadline, for the caller.
  @usableFromInline
  func end(cancelling isCancelling: Bool, by worker: Worker?) {
    var (held, uncounted) = (Held(ask: nil), [Input]())
    let (rest, waiter, tasks) = state.withLock { state in
      swap(&held, &state.held)
      swap(&uncounted, &state.queue)
      // Noted before the caller goes on: a handler that is just beginning must find itself cancelled.
      let tasks = isCancelling ? beginCancelling(&state, except: worker) : []
      return (state.work.release(), state.waiter.take(), tasks)
    }
    for input in uncounted { endUncounted(input) }
    // What the asking closure captured is released before the caller goes on.
    withExtendedLifetime((rest, consume held)) {}
    caller.clear()
    waiter?.resume(true)
    // In another task: this thread may be the caller's, which must not wait for cancellation handlers.
    if !tasks.isEmpty { cancel(tasks, inOwnTask: true) }
    // The uncounted answers are released last, at the deadline in another task: a user's `deinit` may block.
    if worker == nil, !uncounted.isEmpty {
      Task.startDetached(on: core.executor) { [inputs = consume uncounted] in
        withExtendedLifetime(inputs) {}
      }
    }
  }

  /// Ends a call whose answer is not counted any more; reports what its handler threw, unless the handler was late.
  private func endUncounted(_ input: Input) {
    let end: CallEnd = input.end == .answered ? .abandoned : input.end
    if let node = input.node { endUncounted(node, as: end, throwing: input.failure) }
  }

  @inline(never)
  func endUncounted(_ node: SubscriptionNode, as end: CallEnd, throwing failure: (any Error)? = nil)
  {
    let isLate = state.withLock { $0.isExpired }
    // A subscriber whose closure still waited for a busy actor was not asked, so it is not late.
    node.endCall(
      as: isLate && end != .unasked ? .late : end, throwing: isLate ? nil : failure, in: call)
  }

  /// Notes that the deadline has come before the decision: no handler begins any more, and those that run are late.
  ///
  /// - Returns: the identities of the subscriptions whose handlers have begun and not returned.
  @usableFromInline
  func expire() -> Set<UInt> {
    let (rest, workers) = state.withLock { state in
      if !state.isDecided { state.isExpired = true }
      return (state.work.release(), state.workers.filter { $0?.worker.isAsked == true })
    }
    return withExtendedLifetime(rest) { Set(workers.compactMap { $0?.worker.running?.node }) }
  }
}
