extension FanOut {
  /// Asks a claimed subscription and those claimed after it, in the worker's place.
  ///
  /// The part of a worker that runs for every subscriber: inlined into the question, with the closures
  /// given to it, for each level of asynchronous calls costs as much as the weak load itself.
  ///
  /// - Parameters:
  ///   - first: the subscription to begin with.
  ///   - worker: who asks, within the context of its first call.
  ///   - isSingle: whether to ask only the first.
  ///   - absence: what is reported for a subscription that has ended.
  ///   - ask: asks one subscriber.
  ///   - report: takes the result, when the handler is over.
  /// - Returns: a claimed subscription that has an executor of its own, or `nil` when done.
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
          // A task that an earlier handler left behind must not pass for a part of this one.
          let context = HandlerContext(worker: worker, call: number, node: node)
          result = await HandlerContext.binding.withValue(context) { await ask(node) }
        }
        worker.end()
        node.endCall()
        if let watch { slowWatch?.end(watch) }
      }
      report(result, claim.position)
      guard !isSingle, !isSpoiled(worker), let next = self.claim() else { return nil }
      if next.node.isElsewhere { return next }
      claim = next
    }
  }

  /// Cancels the task of a worker whom the cancelling has not reached yet.
  @usableFromInline
  func cancelCurrentTask() {
    withUnsafeCurrentTask { $0?.cancel() }
  }

  /// Whether a handler has cancelled the worker's own task, in which case another worker goes on.
  @inlinable
  func isSpoiled(_ worker: Worker) -> Bool {
    worker.hasOwnTask && Task.isCancelled && handOver()
  }

  /// Lets another worker go on, unless it is the fan-out that was cancelled.
  ///
  /// - Returns: whether it does.
  @usableFromInline
  func handOver() -> Bool {
    guard !runningTasks.isCancelled else { return false }
    if needsWorker { summonWorker() }
    return true
  }

  /// Does one worker's part of a question, elsewhere as well as in place.
  ///
  /// - Parameters:
  ///   - question: what to ask.
  ///   - first: the subscription that is asked first, within whose context the worker's task is.
  ///   - isSingle: whether to ask no other, and the first one here, whatever its executor.
  ///   - employment: whose task it is.
  nonisolated(nonsending) func ask(
    _ question: @escaping Question, from first: Claim, only isSingle: Bool = false,
    in employment: Employment
  ) async {
    let worker = makeWorker(in: employment, beginningWith: first.node)
    let context = HandlerContext(worker: worker, call: 1, node: first.node)
    let place = worker.hasOwnTask ? runningTasks.join() : nil
    await HandlerContext.binding.withValue(context) {
      var next: Claim? = first
      while let claim = next {
        if !isSingle, let executor = claim.node.executor {
          await ask(question, at: claim, as: worker, on: executor, in: employment)
          next = self.claim()
        } else {
          next = await question(self, worker, claim, isSingle)
        }
      }
    }
    if let place, !runningTasks.leave(place) { await runningTasks.waitForUsers() }
  }

  /// Asks on the subscription's own executor, in a task of its own unless it is this worker's to await.
  nonisolated(nonsending) private func ask(
    _ question: @escaping Question, at claim: Claim, as worker: Worker,
    on executor: any TaskExecutor, in employment: Employment
  ) async {
    switch (order, employment) {
    case (.inTurn, _), (_, .callersTask):
      // A child task is one job there; a change of the caller's own preference would be three.
      await withTaskGroup(of: Void.self) { group in
        group.addTask(executorPreference: executor) {
          _ = await question(self, worker, claim, true)
        }
      }
    case (.sideBySide, .ownTask):
      cursor.withLock { $0.sendElsewhere(claim) }
      summon(on: executor) {
        // The executor may have taken its time.
        guard self.cursor.withLock({ $0.arrive(claim.position) }) else { return }
        await self.ask(question, from: claim, only: true, in: .ownTask)
      }
    }
  }
}
