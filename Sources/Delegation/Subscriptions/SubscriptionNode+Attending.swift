internal import Synchronization

/// What workers do with a subscription's mailbox.
extension SubscriptionNode {
  /// Begins to attend the mailbox, if a notification is pending and no other worker attends; if the subscription's
  /// executor is another one, the mailbox waits in its lane instead.
  ///
  /// - Parameter place: where the worker runs; `nil` if it has no executor of its own.
  /// - Returns: what the worker does next.
  func attend(at place: ObjectIdentifier?) -> Mailbox.Step {
    guard isOpen else { return .done }
    let (step, left) = touch { contents, published -> (Mailbox.Step, UInt64) in
      if let executor = contents.options?.executor, Delegation.place(of: executor) != place {
        guard contents.mailbox.attend(published: published, as: .queued) else { return (.done, 0) }
        topic.owner.activity.begin()
        return (.elsewhere, 0)
      }
      guard attend(&contents.mailbox, published) else { return (.done, 0) }
      let step = contents.mailbox.proceed(published: published)
      return (step, leave(after: step))
    }
    return finishUpdate(step, left)
  }

  /// Called under the lock of the contents.
  func attend(_ mailbox: inout Mailbox, _ published: Int?) -> Bool {
    guard mailbox.attend(published: published) else { return false }
    let word = state.bitwiseOr(Bits.attended, ordering: .sequentiallyConsistent).oldValue
    if word & Bits.terminated == 0 { return true }
    // The thread that terminated the subscription meanwhile has found it unattended.
    _ = leave(after: mailbox.proceed(published: nil))
    return false
  }

  /// Takes the mailbox out of its lane, for a worker there, which counts it off when it is done.
  ///
  /// - Returns: whether it was there: not if the subscription has ended.
  func leaveLane() -> Bool {
    contents.withLock { $0.mailbox.flags.remove(.queued) != nil }
  }

  /// Reports a notification's fate; see ``Mailbox/advance(after:published:)``.
  @inline(__always)
  func advance(after fate: Mailbox.Fate) -> Mailbox.Step {
    let (step, left) = contents.withLock { contents -> (Mailbox.Step, UInt64) in
      let step = contents.mailbox.advance(after: fate, published: publishedWhileOpen)
      return (step, leave(after: step))
    }
    return finishUpdate(step, left)
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

  /// Clears `attended` if the step says that the mailbox is no longer attended.
  ///
  /// Called under the lock of the contents.
  ///
  /// - Returns: the state before, for ``finishUpdate(_:_:)``; 0 if the mailbox is still attended.
  private func leave(after step: Mailbox.Step) -> UInt64 {
    if case .handle = step { return 0 }
    return state.bitwiseAnd(~Bits.attended, ordering: .sequentiallyConsistent).oldValue
  }

  /// Does what follows an update of the mailbox, outside the lock.
  ///
  /// It resumes the tasks that wait for this subscription's handlers, requests a worker for what is left, and, if
  /// the worker has left the mailbox of a terminated subscription, opens the subscription that is held for it.
  private func finishUpdate(_ step: consuming Mailbox.Step, _ left: UInt64) -> Mailbox.Step {
    let awaited = state.load(ordering: .sequentiallyConsistent) & Bits.awaited
    if left & Bits.terminated | awaited != 0 { noteEnd(left | awaited) }
    if case .more = step { topic.owner.requestWorker(for: self) }
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
  func isActive(endingIn call: CallKind?) -> Bool { isOpen && object(for: call) != nil }

  /// The subscriber.
  ///
  /// Must not be called under a lock or on the hub's actor.
  ///
  /// - Parameter call: the call that looks, if one does.
  /// - Returns: `nil` if it has died, which terminates the subscription.
  @usableFromInline
  func object(for call: CallKind?) -> AnyObject? {
    let object = reference.object
    if object == nil { terminate(as: .expired, in: call) }
    return object
  }
}
