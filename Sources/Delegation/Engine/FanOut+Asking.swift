extension FanOut {
  /// Asks a claimed subscription and those claimed after it, in the worker's task.
  ///
  /// This is the part of a worker that runs for every subscriber. It is inlined into the question together
  /// with its closures, because each level of asynchronous calls costs as much as the weak load itself.
  ///
  /// - Parameters:
  ///   - first: the subscription to begin with.
  ///   - worker: the worker, within the context of its first call.
  ///   - isSingle: whether to ask only the first.
  ///   - absence: the result for a subscription that was terminated.
  ///   - ask: asks one subscriber.
  ///   - report: takes the result, when the handler has returned.
  /// - Returns: a claimed subscription that has an executor of its own; `nil` when done.
  @inlinable
  @inline(__always)
  nonisolated(nonsending) func run<Result>(
    from first: Claim, as worker: Worker, only isSingle: Bool, absence: Result,
    asking ask: nonisolated(nonsending) (SubscriptionNode) async -> Result,
    report: (Result, Int) -> Void
  ) async -> Claim? {
    var claim = first
    while true {
      let node = claim.node
      var result = absence
      if runningTasks.isCancelled { cancelCurrentTask() }
      if node.beginCall() {
        let watch = slowWatch?.begin(node, in: call)
        let number = worker.begin()
        if number == 1, worker.first === node {
          result = await ask(node)
        } else {
          // A new context: a task that an earlier handler left behind must not count as part of this handler.
          let context = HandlerContext(worker: worker, call: number, node: node)
          result = await HandlerContext.binding.withValue(context) { await ask(node) }
        }
        worker.end()
        node.endCall()
        if let watch { slowWatch?.end(watch) }
      }
      report(result, claim.position)
      guard !isSingle, !isCancelledByHandler(worker), let next = self.claim() else { return nil }
      if next.node.hasExecutor { return next }
      claim = next
    }
  }

  /// Cancels the current worker's task, which the cancelling of all tasks has not reached yet.
  @usableFromInline
  func cancelCurrentTask() {
    withUnsafeCurrentTask { $0?.cancel() }
  }

  /// Whether a handler has cancelled the worker's own task; then another worker goes on.
  @inlinable
  func isCancelledByHandler(_ worker: Worker) -> Bool {
    worker.hasOwnTask && Task.isCancelled && replaceWorker()
  }

  /// Requests another worker, unless the whole fan-out was cancelled.
  ///
  /// - Returns: whether the fan-out was not cancelled.
  @usableFromInline
  func replaceWorker() -> Bool {
    guard !runningTasks.isCancelled else { return false }
    if needsWorker { requestWorker() }
    return true
  }

  /// Does one worker's part of a question, on the subscriptions' own executors as well.
  ///
  /// - Parameters:
  ///   - question: a worker's part of the question.
  ///   - first: the subscription that is asked first, within the context of which the task runs.
  ///   - isSingle: whether to ask only the first one, and on the current executor.
  ///   - workerTask: the task that the worker runs in.
  nonisolated(nonsending) func ask(
    _ question: @escaping Question, from first: Claim, only isSingle: Bool = false,
    in workerTask: WorkerTask
  ) async {
    let worker = makeWorker(in: workerTask, beginningWith: first.node)
    let context = HandlerContext(worker: worker, call: 1, node: first.node)
    let place = worker.hasOwnTask ? runningTasks.join() : nil
    await HandlerContext.binding.withValue(context) {
      var next: Claim? = first
      while let claim = next {
        if !isSingle, let executor = claim.node.executor {
          await ask(question, at: claim, as: worker, on: executor, in: workerTask)
          next = self.claim()
        } else {
          next = await question(self, worker, claim, isSingle)
        }
      }
    }
    if let place, !runningTasks.leave(place) { await runningTasks.waitForUsers() }
  }

  /// Asks on the subscription's own executor, in a task of its own unless it is this worker's to await; one
  /// that has ended or whose subscriber has died is not sent there, for the executor may be busy, suspended
  /// or gone.
  nonisolated(nonsending) private func ask(
    _ question: @escaping Question, at claim: Claim, as worker: Worker,
    on executor: any TaskExecutor, in workerTask: WorkerTask
  ) async {
    // It finds no handler to run, and counts as absent.
    guard claim.node.isActive(endingIn: call) else {
      return _ = await question(self, worker, claim, true)
    }
    switch (order, workerTask) {
    case (.inTurn, _), (_, .callersTask):
      // A child task is one job there; a change of the caller's preference would be three.
      await withTaskGroup(of: Void.self) { group in
        group.addTask(executorPreference: executor) {
          _ = await question(self, worker, claim, true)
        }
      }
    case (.sideBySide, .ownTask):
      cursor.withLock { $0.sendToExecutor(claim) }
      claim.node.topic.noteSent(claim.node, by: ObjectIdentifier(self)) {
        // It was terminated: what is left to be done needs no executor of its own.
        self.workplace.activity.begin()
        Task.startDetached(on: self.workplace.executor) {
          await self.workAndCountOff { await self.beginOnExecutor(question, at: claim) }
        }
      }
      startWorker(on: executor) { await self.beginOnExecutor(question, at: claim) }
    }
  }

  /// Asks a subscription that has waited for its executor, if it still does.
  nonisolated(nonsending) private func beginOnExecutor(
    _ question: @escaping Question, at claim: Claim
  ) async {
    claim.node.topic.noteArrived(claim.node, of: ObjectIdentifier(self))
    // The executor may have taken its time.
    guard cursor.withLock({ $0.beginOnExecutor(claim.position) }) else { return }
    await ask(question, from: claim, only: true, in: .ownTask)
  }
}
