extension FanOut {
  /// Cancels the current worker's task, which the cancelling of all tasks has not reached yet.
  @usableFromInline
  func cancelCurrentTask() {
    withUnsafeCurrentTask { $0?.cancel() }
  }

  /// Whether a handler has cancelled the current worker's task; then another worker goes on.
  @inlinable
  func isCancelledByHandler() -> Bool {
    Task.isCancelled && replaceWorker()
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

  /// Does one worker's part of the question, on the subscriptions' own executors as well.
  ///
  /// It reads the question each time, so that it keeps nothing of it while it waits for an executor.
  ///
  /// - Parameters:
  ///   - first: the subscription that is asked first.
  ///   - isSingle: whether to ask only the first one, and on the current executor.
  nonisolated(nonsending) func ask(from first: Claim, only isSingle: Bool = false) async {
    let worker = makeWorker()
    let place = runningTasks.join()
    var next: Claim? = first
    while let claim = next {
      if !isSingle, let executor = claim.node.executor {
        await ask(claim, as: worker, on: executor)
        next = self.claim()
      } else {
        next = await question?(self, worker, claim, isSingle)
      }
    }
    if !runningTasks.leave(place) { await runningTasks.waitForUsers() }
  }

  /// Asks on the subscription's own executor; one that has ended, or whose subscriber has died or does not
  /// conform, is not sent there, for the executor may be busy, suspended or gone.
  nonisolated(nonsending) private func ask(
    _ claim: Claim, as worker: Worker, on executor: any TaskExecutor
  ) async {
    // It finds no handler to run, and counts as absent.
    guard claim.node.isReached(as: narrowing, endingIn: call) else {
      return _ = await question?(self, worker, claim, true)
    }
    switch order {
    case .inTurn:
      cursor.withLock { $0.sendToExecutor(claim) }
      await Task.runAttached(on: executor) {
        // The deadline may have come meanwhile.
        guard self.cursor.withLock({ $0.beginOnExecutor(claim.position) }) else { return }
        _ = await self.question?(self, worker, claim, true)
      }
    case .sideBySide:
      cursor.withLock { $0.sendToExecutor(claim) }
      claim.node.topic.noteSent(claim.node, by: ObjectIdentifier(self)) {
        // It was terminated: what is left to be done needs no executor of its own.
        self.activity.begin()
        Task.startDetached(on: self.workplace.executor) {
          await self.workAndCountOff { await self.beginOnExecutor(claim) }
        }
      }
      startWorker(on: executor) { await self.beginOnExecutor(claim) }
    }
  }

  /// Asks a subscription that has waited for its executor, if it still does.
  nonisolated(nonsending) private func beginOnExecutor(_ claim: Claim) async {
    claim.node.topic.noteArrived(claim.node, of: ObjectIdentifier(self))
    // The executor may have taken its time.
    guard cursor.withLock({ $0.beginOnExecutor(claim.position) }) else { return }
    await ask(from: claim, only: true)
  }
}
