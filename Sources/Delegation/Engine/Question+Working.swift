/// What a question's workers do.
///
/// A claim of a subscription with an executor is *sent* to it: one more worker asks that subscription, and no other.
extension Question {
  /// Starts a worker's task; the worker is counted from here until its work is done.
  ///
  /// - Parameter sent: the claim to send to its subscription's executor, or else the hub's; `nil` for a spare worker.
  func startWorker(sent: Claim? = nil) {
    core.countWorker()
    let executor = sent?.node.executor ?? core.executor
    let worker = Worker(for: core.number, caller: caller, only: sent != nil)
    if let sent {
      sent.node.contents.withLock { $0.senders[ObjectIdentifier(self)] = { self.returnSent(sent) } }
    }
    let task = executor.map { executor -> Task<Void, any Error> in
      Task(executorPreference: executor, priority: priority) { await self.run(worker, sent) }
    }
    add(task ?? start(worker, sent), of: worker)
  }

  /// Starts a worker's task without an executor: see ``startHere(_:)``.
  @inline(never)
  private func start(_ worker: Worker, _ sent: Claim?) -> Task<Void, any Error> {
    Task(priority: priority) { await self.run(worker, sent) }
  }

  /// Runs one worker, unless another one took its sent claim before.
  ///
  /// If the subscription of a sent claim ends before the worker begins, the question's caller takes the claim with
  /// another worker, and counts the first one off. Not inlined: three places share the code.
  @inline(never)
  func run(_ worker: Worker, _ sent: Claim?) async {
    if let sent, !takeSent(sent) { return }
    await work(as: worker, sent: sent)
  }

  /// Takes a claim that was sent to an executor; returns whether nobody took the claim before.
  private func takeSent(_ claim: Claim) -> Bool {
    claim.node.contents.withLock { $0.senders.removeValue(forKey: ObjectIdentifier(self)) } != nil
  }

  /// Gives the caller a sent claim, because the subscription has ended.
  ///
  /// If the question is decided, the caller waits no longer, and this only counts off the worker that was to ask.
  private func returnSent(_ claim: Claim) {
    let (isDecided, waiter) = state.withLock { state in
      state.ended.append(claim)
      return (state.isDecided, state.waiter.take())
    }
    waiter?.resume(true)
    if isDecided, takeSent(claim) { core.uncountWorker() }
  }

  /// Starts the first worker on the caller's thread, in a task that prefers no executor.
  ///
  /// Without the loop, or in a function that also has an executor, the compiler would pass an explicit `nil` as the
  /// preference, and each of the task's switches would take a lock to find that out.
  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  @inline(never)
  func startHere(_ worker: Worker) -> Task<Void, any Error> {
    var task: Task<Void, any Error>?
    for _ in 0..<1 {
      task = .immediate(priority: priority) { await self.work(as: worker, onCallersThread: true) }
    }
    guard let task else { fatalError("Delegation: a worker was not started") }
    return task
  }

  /// Runs one worker, from its first claim to its last.
  ///
  /// The worker requests the next spare worker first, unless it is on the caller's thread or begins with a `sent`
  /// claim.
  ///
  /// One context is bound for all its handlers, so a task that a handler leaves behind counts as a part of the next
  /// handler. The context is bound inside the worker's task, not around its start: a task copies the bindings that it
  /// inherits.
  @inline(__always)
  private func work(as worker: Worker, sent: Claim? = nil, onCallersThread isFirst: Bool = false)
    async
  {
    // The number is unknown: see `Worker.task`.
    worker.task = 0
    await HandlerContext.binding.withValue(HandlerContext(worker: worker, call: 0, node: nil)) {
      // While a sent claim waits for its executor, the question may be decided: `markAsked` checks that.
      var next =
        if let sent { markAsked(sent) } else if isFirst { state.claimNext() } else {
          state.begin { startWorker() }
        }
      while let claimed = next {
        guard let claim = claimed.isMarkedAsked ? claimed : askElsewhere(claimed) else {
          next = worker.isSent ? nil : state.claimNext()
          continue
        }
        if let ask = state.withLock({ $0.held }).ask {
          next = await ask(self, worker, claim)
        } else {
          // Without the closure that asks, the question is decided.
          endUncounted(claim.node, as: .unasked)
          next = nil
        }
      }
    }
    state.withLock { $0.leave(worker) }
    core.uncountWorker()
  }

  /// Asks a claimed subscription and those that the worker claims next, in the worker's task.
  ///
  /// Inlined together with its closures, because each level of asynchronous calls costs as much as a weak load.
  ///
  /// `take` counts the answer to a claim, when the handler has returned, and claims the next subscription.
  ///
  /// - Returns: a claimed subscription that has to be sent to its own executor; `nil` when done.
  @_alwaysEmitIntoClient @inline(__always)
  func run<Response, Failure>(
    from first: Claim, as worker: Worker,
    counting take: (Answer<Response, Failure>, Claim) -> Claim?,
    asking ask: (SubscriptionNode) async -> Answer<Response, Failure>
  ) async -> Claim? {
    var claim = first
    while true {
      var answer = Answer<Response, Failure>.absence
      if beginHandler(of: claim.node, by: worker) { answer = await ask(claim.node) }
      if !worker.isAsked {
        if claimReplacement(&claim, by: worker) {
          if claim.isMarkedAsked { continue }
          return claim
        }
        // An `EventObserver` whose subscription has ended returns without calling its closure: that is no answer.
        if case .response = answer { answer = .absence }
      }
      guard let next = take(answer, claim) else { return nil }
      if !next.isMarkedAsked { return next }
      claim = next
    }
  }

  /// Notes that a worker begins a handler, or that a subscription that has ended, or is a stream's, was not asked.
  ///
  /// Counts the stream as passed over.
  ///
  /// - Returns: whether the handler may begin; its task is cancelled if the question is.
  @usableFromInline
  func beginHandler(of node: SubscriptionNode, by worker: Worker) -> Bool {
    guard node.mayBegin() else {
      worker.note(.unasked)
      return false
    }
    // Cancels after the check only: the caller's task, which must not be cancelled, never passes the check
    // (`wait(until:)`).
    if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
    worker.begin(node)
    return true
  }

  /// If a claimed subscription was not asked, and has a replacement, claims the replacement instead.
  ///
  /// Claims nothing after the decision or the deadline. A replacement whose claim has to be sent is not yet counted as
  /// asked.
  ///
  /// - Returns: whether `claim` is now the replacement's.
  @inline(never) @usableFromInline
  func claimReplacement(_ claim: inout Claim, by worker: Worker) -> Bool {
    guard let replacement = claim.node.replacement else { return false }
    let isMarkedAsked = !replacement.hasExecutor && !worker.isSent
    let mayBegin = state.withLock { state in
      if state.isDecided || state.isExpired { return false }
      if isMarkedAsked { _ = replacement.countCall() }
      return true
    }
    guard mayBegin else { return false }
    worker.end(claim.node, in: call, isCancelled: false)
    (claim.node, claim.isMarkedAsked) = (replacement, isMarkedAsked)
    return true
  }

  /// Sends a claim to the subscription's own executor, or to the hub's if a replacement has none.
  ///
  /// A claim that would reach nobody is not sent: its executor may be busy, suspended or gone. Not inlined: claims are
  /// seldom sent, and the code would make the frame of every worker larger.
  ///
  /// - Returns: the claim if it would reach nobody, so that the worker counts an absence; `nil` if it was sent, or no
  ///   handler may begin any more.
  @inline(never)
  private func askElsewhere(_ claim: Claim) -> Claim? {
    guard claim.node.isReached(by: admits, endingIn: call) else { return markAsked(claim) }
    startWorker(sent: claim)
    // If the subscription ended before `senders` had this question, only this line returns the claim. If the
    // subscription returns the claim, too, `takeSent` refuses the second run.
    if !claim.node.isOpen { returnSent(claim) }
    return nil
  }

  /// Counts a claimed subscription as asked; after the decision or the deadline, only returns `nil`.
  private func markAsked(_ claim: Claim) -> Claim? {
    state.withLock { state in
      if state.isDecided || state.isExpired { return nil }
      var claim = claim
      claim.isMarkedAsked = true
      _ = claim.node.countCall()
      return claim
    }
  }
}
