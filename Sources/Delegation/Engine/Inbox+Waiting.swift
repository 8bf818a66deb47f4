extension Inbox {
  /// Counts a worker off, and lets those go on who waited for it.
  func workerEnded() {
    if activity.end() { reconsiderWaits() }
  }

  /// Looks whether somebody waits for what a subscription has just passed.
  func receiptPassed() {
    if activity.isAwaited { reconsiderWaits() }
  }

  /// Lets those go on whose waits for something of this hub are fulfilled.
  ///
  /// What ends in one hub fulfils no wait for another: there it can only mean that there is more to
  /// wait for. So a hub's waits are resumed by those who work for it, and by nobody else's threads.
  @usableFromInline
  func reconsiderWaits() {
    let fulfilled = Waiters.shared.withLock { waits in
      let fulfilled = waits.takeFulfilled(of: self)
      for wait in fulfilled where !waits.concerns(wait.goal.inbox) {
        wait.goal.inbox.activity.stopAnnouncing()
      }
      return fulfilled
    }
    for wait in fulfilled { wait.resume(true) }
  }

  /// Waiters until a goal is reached, whatever becomes of the caller's task.
  nonisolated(nonsending) func wait(for goal: Waiters.Goal) async {
    _ = await wait(for: goal, ticket: Waiters.shared.withLock { $0.makeTicket() })
  }

  /// Waiters until a goal is reached, the caller's task is cancelled, or a time has passed.
  ///
  /// - Returns: whether the goal was reached.
  nonisolated(nonsending) func wait(
    for goal: Waiters.Goal, atMost duration: Duration?, on clock: any Clock<Duration>,
    executor: (any TaskExecutor)?
  ) async -> Bool {
    let ticket = Waiters.shared.withLock { $0.makeTicket() }
    let deadline = duration.map { Deadline(after: $0, on: clock) }
    let timer = deadline.map { deadline in
      Task.startDetached(on: executor) {
        await deadline.wait()
        self.giveUp(ticket)
      }
    }
    defer { timer?.cancel() }
    return await withTaskCancellationHandler {
      await wait(for: goal, ticket: ticket)
    } onCancel: {
      giveUp(ticket)
    }
  }

  nonisolated(nonsending) private func wait(for goal: Waiters.Goal, ticket: Int) async -> Bool {
    let context = HandlerContext.current
    return await withCheckedContinuation { continuation in
      let isAdded = Waiters.shared.withLock { waits in
        let isAdded = waits.add(
          .init(ticket: ticket, goal: goal, context: context) { continuation.resume(returning: $0) }
        )
        guard isAdded else { return false }
        // From here on every end is told; what ended before is seen by the look below.
        activity.announceEnds()
        if case .end(let node) = goal { node.announceEnds() }
        return true
      }
      if isAdded { reconsiderWaits() } else { continuation.resume(returning: false) }
    }
  }

  private func giveUp(_ ticket: Int) {
    let wait = Waiters.shared.withLock { waits in
      let wait = waits.giveUp(ticket)
      // It fulfils no other wait: those after it excuse fewer handlers now, not more.
      if wait != nil, !waits.concerns(self) { activity.stopAnnouncing() }
      return wait
    }
    wait?.resume(false)
  }
}
