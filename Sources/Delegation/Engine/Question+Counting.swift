internal import Synchronization

/// What becomes of a question's answers: one worker counts, and the others queue theirs.
///
/// The combiner is user code, so it never runs under a lock.
extension Question {
  /// What is to be counted: an answer, or that the deadline has come.
  struct Input: Sendable {
    /// The subscription whose call it ends; `nil` for the deadline.
    let node: SubscriptionNode?
    /// How that call ends if the answer is counted.
    let end: CallEnd
    /// What its handler threw, if that is to be told when the call has been counted off.
    let failure: (any Error)?
    /// Counts it, and returns whether it decides.
    let count: @Sendable () -> Bool
  }

  /// Begins to count if no other worker does, and counts off the call that has ended.
  ///
  /// It is counted off before its answer is counted. So what is counted was answered in time, what is outstanding at
  /// the deadline was late, and what is never counted was abandoned.
  ///
  /// The worker that counts stops under the lock, and only if nothing is queued. One that queues something does so
  /// under the lock as well, and tries to begin in the same section: one of the two counts what is queued.
  @usableFromInline
  func beginCounting(ending node: SubscriptionNode, by worker: Worker) -> Bool {
    if hasDeadline { expireIfDue() }
    guard beginCounting() else { return false }
    worker.end(node, in: call, isCancelled: isCancelled)
    return true
  }

  @inline(__always)
  private func beginCounting() -> Bool {
    isCounting.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged
  }

  /// Queues an input for the worker that counts.
  ///
  /// - Parameters:
  ///   - node: the subscription whose call it ends; `nil` for the deadline.
  ///   - worker: the worker that asked it.
  ///   - count: counts the input.
  /// - Returns: whether the current worker counts now, beginning with the queue.
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
      return (false, beginCounting())
    }
    if isOver { endUncounted(input) }
    return isCounting
  }

  /// Claims a worker's next subscription, and stops counting in the same section, if the worker counts.
  ///
  /// - Parameters:
  ///   - worker: the worker; `nil` at the deadline.
  ///   - isCounting: whether it counts, and has counted all that it knows of.
  /// - Returns: whether it has decided with what was queued, and the next one, if any.
  @usableFromInline
  func claimNext(for worker: Worker?, counting isCounting: Bool) -> (isDecided: Bool, next: Claim?)
  {
    while true {
      let (queued, next) = state.withLock { state -> ([Input], Claim?) in
        if isCounting {
          if !state.queue.isEmpty {
            defer { state.queue = [] }
            return (state.queue, nil)
          }
          self.isCounting.store(false, ordering: .releasing)
        }
        return ([], worker?.isSingle ?? true ? nil : state.claim())
      }
      if queued.isEmpty {
        if let next, next.isLast { state.releaseList() }
        return (false, next)
      }
      if count(queued) { return (true, nil) }
    }
  }

  /// Counts what was queued, and counts off the calls that it ends, until it is decided; puts back the rest.
  private func count(_ queued: [Input]) -> Bool {
    for (index, input) in queued.enumerated() {
      input.node?.endCall(as: input.end, throwing: input.failure, in: call)
      guard input.count() else { continue }
      state.withLock { $0.queue.insert(contentsOf: queued[(index + 1)...], at: 0) }
      return true
    }
    return false
  }

  /// Lets no further handler begin, releases the question, and resumes the caller: it is decided.
  ///
  /// - Parameters:
  ///   - isCancelling: whether handlers are running that are to be cancelled.
  ///   - worker: the worker that has decided, whose handler has returned; `nil` at the deadline, for the caller.
  @usableFromInline
  func end(cancelling isCancelling: Bool, by worker: Worker?) {
    var (held, late) = (Held(), [Input]())
    let (rest, waiter, tasks) = state.withLock { state in
      swap(&held, &state.held)
      swap(&late, &state.queue)
      // Before the caller goes on: a handler that begins after that is to find itself cancelled.
      let tasks = isCancelling ? beginCancelling(&state, except: worker) : []
      return (state.work.release(), state.waiter.take(), tasks)
    }
    for input in late { endUncounted(input) }
    // The caller does not go on before what the question has captured is released.
    withExtendedLifetime((rest, consume held)) {}
    caller.clear()
    waiter?.resume(true)
    // Not in place: that may be the caller's, who is not to wait for the cancellation handlers.
    cancel(tasks, isApart: true)
    // Last, for a `deinit` of the user's may block: neither the caller nor the others wait for that.
    if worker == nil, !late.isEmpty {
      Task.startDetached(on: core.executor) { [late = consume late] in withExtendedLifetime(late) {}
      }
    }
  }

  /// Counts off a call whose answer is not counted any more, and tells what its handler threw, unless it was late.
  private func endUncounted(_ input: Input) {
    let end: CallEnd = input.end == .answered ? .abandoned : input.end
    if let node = input.node { endUncounted(node, as: end, throwing: input.failure) }
  }

  @inline(never)
  func endUncounted(_ node: SubscriptionNode, as end: CallEnd, throwing failure: (any Error)? = nil)
  {
    let isLate = state.withLock { $0.isExpired }
    // Who has not been called, for its actor was busy, has not been asked.
    node.endCall(
      as: isLate && end != .unasked ? .late : end, throwing: isLate ? nil : failure, in: call)
  }

  /// Notes that the deadline has come, unless it is decided: no handler begins any more, and those that end are late.
  ///
  /// - Returns: the subscriptions whose handlers have begun and not returned, by their identities.
  @usableFromInline
  func expire() -> Set<UInt> {
    let (rest, workers) = state.withLock { state in
      if !state.isDecided { state.isExpired = true }
      return (state.work.release(), state.workers.filter { $0?.worker.isAsked == true })
    }
    return withExtendedLifetime(rest) { Set(workers.compactMap { $0?.worker.running?.node }) }
  }
}
