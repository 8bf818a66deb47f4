internal import Synchronization

/// What workers do with a subscription's mailbox.
extension SubscriptionNode {
  /// Begins to attend the mailbox, if a notification is pending and no other worker attends.
  ///
  /// - Returns: what the worker does next; `relocate` also if the subscription has an executor of its own.
  func attendAndProceed() -> Mailbox.Step {
    guard isOpen else { return .done }
    let (step, word) = touch { contents, published -> (Mailbox.Step, UInt64?) in
      guard attend(&contents.mailbox, published) else { return (.done, nil) }
      if contents.options?.executor != nil {
        return (.relocate, leave(after: .relocate, &contents.mailbox))
      }
      let step = contents.mailbox.proceed(published: published)
      return (step, leave(after: step, &contents.mailbox))
    }
    guard let word else { return step }
    return finishUpdate(step, word)
  }

  /// Called under the lock of the contents.
  func attend(_ mailbox: inout Mailbox, _ published: Int?) -> Bool {
    guard mailbox.attend(published: published) else { return false }
    let word = state.bitwiseOr(Bits.attended, ordering: .sequentiallyConsistent).oldValue
    if word & Bits.terminated == 0 { return true }
    // The thread that terminated the subscription meanwhile has found it unattended.
    _ = leave(after: mailbox.proceed(published: nil), &mailbox)
    return false
  }

  /// Begins a round of attendance; see ``Mailbox/proceed(published:)``.
  func proceed() -> Mailbox.Step {
    let (step, word, wasSent) = touch { contents, published -> (Mailbox.Step, UInt64, Bool) in
      let wasSent = contents.mailbox.flags.remove(.sent) != nil
      let step = contents.mailbox.proceed(published: published)
      return (step, leave(after: step, &contents.mailbox), wasSent)
    }
    defer { if wasSent { topic.owner.activity.end() } }
    return finishUpdate(step, word)
  }

  /// Whether it waits for its executor, and is counted by itself.
  var isSent: Bool { contents.withLock { $0.mailbox.flags.contains(.sent) } }

  /// Leaves the mailbox of a terminated subscription in the place of a worker that waits for the executor,
  /// which may be busy, suspended or gone.
  ///
  /// Called under the lock of the contents.
  ///
  /// - Returns: the state before, for ``finishLeaving(_:)``; `nil` if no worker waits.
  func leaveIfSent(_ mailbox: inout Mailbox) -> UInt64? {
    guard mailbox.flags.remove(.sent) != nil else { return nil }
    return leave(after: mailbox.proceed(published: nil), &mailbox)
  }

  /// Does what follows ``leaveIfSent(_:)``, outside the lock.
  func finishLeaving(_ left: UInt64) {
    _ = finishUpdate(.done, left)
    topic.owner.activity.end()
  }

  /// Reports a notification's fate; see ``Mailbox/advance(after:published:)``.
  @inline(__always)
  func advance(after fate: Mailbox.Fate) -> Mailbox.Step {
    let (step, word) = contents.withLock { contents -> (Mailbox.Step, UInt64) in
      let step = contents.mailbox.advance(after: fate, published: publishedWhileOpen)
      return (step, leave(after: step, &contents.mailbox))
    }
    return finishUpdate(step, word)
  }

  /// Whether the handler of a notification that was taken may begin.
  ///
  /// If another subscription has taken the id since, it may: the notification is not the successor's.
  var mayHandle: Bool {
    state.load(ordering: .sequentiallyConsistent) & (Bits.terminated | Bits.succeeded)
      != Bits.terminated
  }

  /// Notes that the handler of the notification that was taken waits for the main actor.
  func poise() {
    contents.withLock { $0.mailbox.poise() }
  }

  /// Begins a handler that had to wait for the main actor after its notification was taken.
  ///
  /// - Returns: whether it may; if not, a successor may be waiting for the notification.
  func beginHandling() -> Bool {
    contents.withLock { contents in
      guard isOpen else { return !contents.mailbox.flags.contains(.poised) && mayHandle }
      contents.mailbox.flags.remove(.poised)
      return true
    }
  }

  /// Puts back a notification that was taken and whose handler has not begun.
  ///
  /// - Returns: whether it did; then its receipt is not passed.
  func giveBack(_ handler: Notification.Handler, with receipt: Receipt?) -> Bool {
    contents.withLock { contents in
      contents.mailbox.giveBack(Notification.Content(handler: handler, receipt: receipt))
    }
  }

  /// Notes that another worker is to go on with the mailbox, instead of the one that attends it.
  func relocate() {
    contents.withLock { $0.mailbox.relocate() }
  }

  /// Clears `attended` if the step says that the mailbox is no longer attended, and counts it as work of
  /// its own if it is sent to another executor.
  ///
  /// Called under the lock of the contents.
  ///
  /// - Returns: the state before, for ``finishUpdate(_:_:)``; 0 if the mailbox is still attended.
  private func leave(after step: Mailbox.Step, _ mailbox: inout Mailbox) -> UInt64 {
    switch step {
    case .handle: return 0
    case .done: break
    case .yield where !hasExecutor: return 0
    case .relocate, .yield:
      // To yield is to wait for the executor, too, which may stand still from now on.
      mailbox.flags.insert(.sent)
      topic.owner.activity.begin()
      return 0
    }
    return state.bitwiseAnd(~Bits.attended, ordering: .sequentiallyConsistent).oldValue
  }

  /// Does what follows an update of the mailbox, outside the lock.
  ///
  /// It resumes the tasks that wait for this subscription's handlers, and, if the worker has left the
  /// mailbox of a terminated subscription, opens the subscription that is held for it.
  private func finishUpdate(_ step: Mailbox.Step, _ left: UInt64) -> Mailbox.Step {
    let awaited = state.load(ordering: .sequentiallyConsistent) & Bits.awaited
    if left & Bits.terminated | awaited != 0 { noteEnd(left | awaited) }
    return step
  }
}

/// What workers look at before they send a subscription to another executor.
extension SubscriptionNode {
  /// Whether calls may still start, and the subscriber is alive; if it has died, the subscription ends as
  /// expired.
  ///
  /// Must not be called under a lock or on the hub's actor.
  ///
  /// - Parameter call: the call that looks, if one does.
  /// - Returns: whether they may.
  func isActive(endingIn call: CallKind?) -> Bool {
    guard isOpen else { return false }
    if reference.isAlive { return true }
    terminate(as: .expired, in: call)
    return false
  }
}
