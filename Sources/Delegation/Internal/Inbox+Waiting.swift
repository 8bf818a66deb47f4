extension Inbox {
  /// Counts a worker off, and lets those go on who waited for it.
  func workerEnded() {
    if activity.end() { reconsiderWaits() }
  }

  /// Looks whether somebody waits for what a subscription has just passed.
  func receiptPassed() {
    if activity.isAwaited { reconsiderWaits() }
  }

  /// Lets those go on whose waits are fulfilled.
  @usableFromInline
  func reconsiderWaits() {
    let fulfilled = waits.withLock { waits in
      let fulfilled = waits.takeFulfilled(workers: activity.workers)
      if waits.isEmpty { activity.stopAnnouncing() }
      return fulfilled
    }
    for wait in fulfilled { wait.resume(true) }
  }

  /// Waits until a goal is reached, whatever becomes of the caller's task.
  nonisolated(nonsending) func wait(for goal: Waits.Goal) async {
    _ = await wait(for: goal, ticket: waits.withLock { $0.makeTicket() })
  }

  /// Waits until a goal is reached, the caller's task is cancelled, or a time has passed.
  ///
  /// - Returns: whether the goal was reached.
  nonisolated(nonsending) func wait(
    for goal: Waits.Goal, atMost duration: Duration?, on clock: any Clock<Duration>,
    executor: (any TaskExecutor)?
  ) async -> Bool {
    let ticket = waits.withLock { $0.makeTicket() }
    let timer = duration.map { duration in
      Task.detached(executorPreference: executor) {
        try? await clock.sleep(for: duration)
        self.giveUp(ticket)
      }
    }
    defer { timer?.cancel() }
    return await withTaskCancellationHandler {
      await wait(for: goal, ticket: ticket, isCancellable: true)
    } onCancel: {
      giveUp(ticket)
    }
  }

  nonisolated(nonsending) private func wait(
    for goal: Waits.Goal, ticket: Int, isCancellable: Bool = false
  ) async -> Bool {
    let chain = HandlerContext.chain
    return await withCheckedContinuation { continuation in
      waits.withLock { waits in
        waits.add(
          .init(ticket: ticket, goal: goal, chain: chain) { continuation.resume(returning: $0) })
        // From here on every end is told; what ended before is seen by the look below.
        activity.announceEnds()
        if case .end(let node) = goal { node.announceEnds() }
      }
      reconsiderWaits()
      if isCancellable, Task.isCancelled { giveUp(ticket) }
    }
  }

  private func giveUp(_ ticket: Int) {
    waits.withLock { $0.remove(ticket) }?.resume(false)
    // Those who gave way to this wait, or would have, are looked at anew.
    reconsiderWaits()
  }
}
