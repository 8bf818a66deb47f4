/// What a question's workers do.
extension Round {
  /// Asks a claimed subscription and those claimed after it, in the worker's task.
  ///
  /// This is the part of a worker that runs for every subscriber. It is inlined into the question together
  /// with its closure, because each level of asynchronous calls costs as much as the weak load itself.
  ///
  /// - Parameters:
  ///   - first: the subscription to begin with.
  ///   - worker: the worker.
  ///   - isSingle: whether to ask only the first.
  ///   - poll: counts the answers, each when the handler has returned.
  ///   - ask: asks one subscriber.
  /// - Returns: a claimed subscription that has an executor of its own; `nil` when done.
  @inlinable
  @inline(__always)
  func run<Count>(
    from first: Claim, as worker: Worker, only isSingle: Bool, to poll: Poll<Count>,
    asking ask: (SubscriptionNode) async -> Count.Event
  ) async -> Claim? {
    var claim = first
    while true {
      var answer = Count.absence
      if begin(claim.node, by: worker) {
        answer = await ask(claim.node)
        end(claim.node, by: worker)
      }
      poll.take(answer, from: claim.position, by: worker, in: self)
      guard !isSingle, let next = next() else { return nil }
      if next.node.hasExecutor { return next }
      claim = next
    }
  }

  /// Notes that a worker begins with a subscription's handler, unless it was terminated.
  @usableFromInline
  func begin(_ node: SubscriptionNode, by worker: Worker) -> Bool {
    if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
    // Begun first: that may call an executor's `enqueue`, and the subscription may end meanwhile.
    worker.ticket = slowWatch?.begin(node, in: call)
    guard node.beginCall() else {
      if let ticket = worker.ticket { slowWatch?.end(ticket) }
      return false
    }
    worker.begin(node)
    return true
  }

  /// Notes that the handler has returned.
  @usableFromInline
  func end(_ node: SubscriptionNode, by worker: Worker) {
    worker.end()
    node.endCall()
    if let ticket = worker.ticket { slowWatch?.end(ticket) }
  }

  /// Claims the next subscription for a worker whose handler has returned.
  ///
  /// - Returns: `nil` if none is left, or if the handler has cancelled the task: then another worker goes on.
  @usableFromInline
  func next() -> Claim? {
    if Task.isCancelled, replaceWorker() { return nil }
    return claim()
  }

  /// Requests another worker, unless all are to be cancelled.
  ///
  /// - Returns: whether they are not.
  private func replaceWorker() -> Bool {
    if isCancelled { return false }
    if state.withLock({ $0.cursor.needsWorker }) { requestWorker() }
    return true
  }

  /// Claims the next subscription; `nil` if none is left.
  func claim() -> Claim? {
    let (claim, rest) = state.withLock { state in
      let claim = state.cursor.claim()
      return (claim, claim?.isLast == true ? state.cursor.release() : [])
    }
    withExtendedLifetime(rest) {}
    return claim
  }

  /// Whether a subscription that has not answered is late: not if it ended, or its subscriber died, before
  /// it was asked, and not if its subscriber does not conform.
  ///
  /// Only before the round is halted.
  @usableFromInline
  func isLate(at position: Int) -> Bool {
    guard let node = state.withLock({ $0.cursor.notBegun(position) }) else { return true }
    // Outside the lock: it may release a subscriber's last reference. One that has died is not terminated
    // here, which may take its time: the caller is to go on.
    return node.isActive && node.isReached(as: narrowing, endingIn: call)
  }

  /// Whether a subscriber has been asked: not if its executor is busy.
  ///
  /// Only before the round is halted.
  @usableFromInline
  func hasBegun(_ position: Int) -> Bool {
    state.withLock { $0.cursor.notBegun(position) } == nil
  }

  /// Runs one worker, from its first claim to its last, on the subscriptions' own executors as well.
  ///
  /// Its context is bound for the whole task, so a task that one handler leaves behind passes for a part of the next
  /// one. It reads the question each time, so that it keeps nothing of it while it waits for an executor.
  func work(as worker: Worker, _ beginning: Beginning) async {
    var isSingle = false
    var next: Claim?
    switch beginning {
    case .first:
      if worker.place != nil { beginPresence() }
      next = claim()
    case .standby:
      state.provideForSuccessor { requestWorker() }
      next = claim()
    case .sent(let claim):
      isSingle = true
      // The executor may have taken its time.
      next = beginSent(claim) ? claim : nil
    }
    while let claim = next {
      if !isSingle, let executor = claim.node.executor {
        await ask(claim, as: worker, on: executor)
        next = self.claim()
      } else {
        next = await question?(self, worker, claim, isSingle)
      }
    }
    if let place = worker.place {
      if case .first = beginning { endPresence() }
      state.withLock { $0.workers.leave(place) }
    }
    activity.end()
  }

  private var question: Question? { state.withLock { $0.held }.question }

  /// Asks on the subscription's own executor; one that has ended, or whose subscriber has died or does not
  /// conform, is not sent there, for the executor may be busy, suspended or gone.
  private func ask(_ claim: Claim, as worker: Worker, on executor: any TaskExecutor) async {
    // It finds no handler to run, and counts as absent.
    guard claim.node.isReached(as: narrowing, endingIn: call) else {
      return _ = await question?(self, worker, claim, true)
    }
    state.withLock { $0.cursor.send(claim) }
    startWorker(on: executor, .sent(claim))
  }

  private func beginSent(_ claim: Claim) -> Bool {
    state.withLock { $0.cursor.beginSent(claim.position) }
  }
}
