internal import Synchronization

/// What workers do with a subscription's mailbox.
extension SubscriptionNode {
  /// Begins to attend the mailbox, if something waits in it and no other worker does.
  ///
  /// - Returns: what the worker does next; `relocate` as well if its handlers do not run where the hub
  ///   says.
  func attendAndProceed() -> Mailbox.Step {
    guard isOpen else { return .rest }
    let (step, word) = touch { contents, published -> (Mailbox.Step, UInt32?) in
      guard attend(&contents.mailbox, published) else { return (.rest, nil) }
      if contents.attachments.executor != nil { return (.relocate, 0) }
      let step = contents.mailbox.proceed(published: published)
      return (step, leave(after: step))
    }
    guard let word else { return step }
    return noticed(step, word)
  }

  /// Called under the lock of the contents.
  func attend(_ mailbox: inout Mailbox, _ published: Int?) -> Bool {
    guard mailbox.attend(published: published) else { return false }
    let word = state.bitwiseOr(Bits.attended, ordering: .sequentiallyConsistent).oldValue
    if word & Bits.closed == 0 { return true }
    // Whoever ended the subscription meanwhile has found it unattended.
    _ = leave(after: mailbox.proceed(published: nil))
    return false
  }

  /// Begins a round of attendance; see ``Mailbox/proceed(published:)``.
  func proceed() -> Mailbox.Step {
    let (step, word) = touch { contents, published -> (Mailbox.Step, UInt32) in
      let step = contents.mailbox.proceed(published: published)
      return (step, leave(after: step))
    }
    return noticed(step, word)
  }

  /// Reports a notification's fate; see ``Mailbox/advance(after:published:)``.
  func advance(after fate: Mailbox.Fate) -> Mailbox.Step {
    let (step, word) = contents.withLock { contents -> (Mailbox.Step, UInt32) in
      let step = contents.mailbox.advance(after: fate, published: publishedWhileOpen)
      return (step, leave(after: step))
    }
    return noticed(step, word)
  }

  /// Has another worker go on with the mailbox, instead of the one that attends it.
  func relocate() {
    contents.withLock { $0.mailbox.relocate() }
  }

  /// Notes that the mailbox is no longer attended, if that is so.
  ///
  /// Called under the lock of the contents.
  ///
  /// - Returns: the state that was left, for ``noticed(_:_:)``.
  private func leave(after step: Mailbox.Step) -> UInt32 {
    guard case .rest = step else { return 0 }
    return state.bitwiseAnd(~Bits.attended, ordering: .sequentiallyConsistent).oldValue
  }

  /// Tells those who wait for this subscription's handlers that one has ended, and, if the mailbox was
  /// left after the subscription had ended, releases who is held for it.
  private func noticed(_ step: Mailbox.Step, _ left: UInt32) -> Mailbox.Step {
    if left & Bits.closed != 0 { releaseHeir() }
    if state.load(ordering: .sequentiallyConsistent) & Bits.awaited != 0 {
      resumeWaiters()
    }
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
