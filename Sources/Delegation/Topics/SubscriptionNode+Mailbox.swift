internal import Synchronization

/// How a subscription's mailbox is looked into and changed.
extension SubscriptionNode {
  /// How many notifications have been posted, up to the subscription's end; `nil` if it is not open.
  ///
  /// Called under the lock of the contents: a count that was read before could miss notifications for which another
  /// worker has set ``Mailbox/Flags/recheck``. The count is loaded before the state, so that it includes nothing that
  /// was posted after the termination.
  func published(to mailbox: borrowing Mailbox) -> Int? {
    let published = topic.published.load(ordering: .acquiring)
    return isOpen ? min(published, mailbox.end) : nil
  }

  /// How many notifications have been posted.
  var published: Int { topic.published.load(ordering: .acquiring) }

  /// Changes the contents, after the mailbox has dropped what exceeds its limit.
  ///
  /// What was dropped is reported and released outside the lock. A flood is dropped in pieces, because a thread that
  /// subscribes a replacement holds the topic's lock, for which posters wait, while it waits for this lock. The pieces
  /// are released after the loop: to release is slower than to post, so that the loop might never end.
  func dropThenChange<Result: Sendable>(_ body: (inout Contents, Int?) -> Result) -> Result {
    var (pieces, id) = ([Mailbox.Remains](), Identity?.none)
    while true {
      let (result, piece) = contents.withLock { contents -> (Result?, Mailbox.Remains?) in
        var published = published(to: contents.mailbox)
        let mustDrop = contents.mailbox.mustDrop(published: published)
        // Read here: the subscription may end before the drops are reported.
        if mustDrop { id = contents.options?.id }
        let piece = mustDrop ? drop(from: &contents.mailbox, &published) : nil
        if piece?.count == Mailbox.mostDroppedAtOnce { return (nil, piece) }
        return (body(&contents, published), piece)
      }
      if let piece { pieces.append(piece) }
      guard let result else { continue }
      if !pieces.isEmpty { release(pieces, of: id) }
      return result
    }
  }

  /// Not inlined, because `dropThenChange` has many copies.
  @inline(never)
  private func drop(from mailbox: inout Mailbox, _ published: inout Int?) -> Mailbox.Remains? {
    // Read before `isOpen`: what is posted after an end is not addressed to the subscription.
    let all = self.published
    guard mailbox.position >= mailbox.end else { return mailbox.dropOldest(published: published) }
    guard isOpen else { return nil }
    defer { published = mailbox.end }
    return mailbox.dropBeyondEnd(published: all)
  }

  /// Passes the receipts of what was dropped, and reports the drops; not inlined, either.
  @inline(never)
  private func release(_ pieces: [Mailbox.Remains], of id: Identity?) {
    var last: TaskLocalPropagation.Context?
    for piece in pieces { last = piece.passReceipts(by: reference)?.context }
    let dropped = contents.withLock { $0.mailbox.takeUnreportedDrops() }
    if dropped > 0 { report(.dropped, in: .notify, dropped: dropped, context: last, with: id) }
  }

  /// Whether a receipt's notification waits here, or is in hand.
  func hasPending(_ receipt: Receipt) -> Bool {
    guard let position = receipt.position, position.topic == topic.number else { return false }
    return contents.withLock { $0.mailbox.hasPending(position.number) }
  }

  /// What became of the notifications addressed to this subscription so far.
  var account: Account {
    dropThenChange { contents, number in
      // The number by which drops were decided, so that no more seem to wait than may. What is posted after the end
      // that `finish()` sets waits, too.
      let published = contents.mailbox.isFinishing ? nil : number
      return contents.mailbox.account(published: published ?? self.published)
    }
  }
}

/// What workers do with a subscription's mailbox.
extension SubscriptionNode {
  /// Begins to attend the mailbox, if a notification is pending and nobody attends it; queues the mailbox instead if
  /// the subscription is served elsewhere.
  ///
  /// - Parameter executorID: where the worker runs; `nil` if it has no executor of its own.
  /// - Returns: what the worker does next.
  func attend(on executorID: ObjectIdentifier?) -> Mailbox.Step {
    guard isOpen else { return .done }
    let (step, left) = dropThenChange { contents, published -> (Mailbox.Step, UInt64) in
      if let options = contents.options, !options.isServed(on: executorID) {
        let isFirst = contents.mailbox.attend(published: published, as: .queued)
        if isFirst { topic.owner?.countWorker() }
        if let loop = options.loop, contents.mailbox.flags.contains(.queued) {
          return (.wake(loop.waiter.take()), 0)
        }
        return (isFirst ? .elsewhere : .done, 0)
      }
      guard attend(&contents.mailbox, published) else {
        return (contents.mailbox.flags.contains(.following) ? .later : .done, 0)
      }
      let step = contents.mailbox.proceed(published: published)
      return (step, leave(after: step))
    }
    return followUp(step, left)
  }

  /// Called under the lock of the contents.
  func attend(_ mailbox: inout Mailbox, _ published: Int?) -> Bool {
    guard mailbox.attend(published: published) else { return false }
    let word = state.bitwiseOr(Bits.attended, ordering: .sequentiallyConsistent).oldValue
    if word & Bits.terminated == 0 { return true }
    // The thread that has terminated the subscription meanwhile found the mailbox unattended.
    _ = leave(after: mailbox.proceed(published: nil))
    return false
  }

  /// Takes the mailbox out of its delivery, for a worker that counts it off when it is done.
  ///
  /// - Returns: whether it was in the delivery: not if the subscription has ended.
  func leaveDelivery() -> Bool {
    contents.withLock { $0.mailbox.flags.remove(.queued) != nil }
  }

  /// Reports a notification's fate, and passes its receipt; see ``Mailbox/advance(after:published:)``.
  @inline(__always)
  func advance(after fate: Notification.Fate, passing receipt: Receipt? = nil) -> Mailbox.Step {
    let (step, left) = contents.withLock { contents -> (Mailbox.Step, UInt64) in
      let step = contents.mailbox.advance(after: fate, published: published(to: contents.mailbox))
      return (step, leave(after: step))
    }
    // First: `followUp` may release the subscriber, whose `deinit` may take long.
    receipt?.pass(as: fate, hasEndedInHand: left & Bits.endedInHand != 0)
    return followUp(step, left)
  }

  /// Whether the handler of a notification that was taken may begin.
  ///
  /// It may after a replacement, because what was taken is not the replacement's; not once the subscription is
  /// cancelled.
  var mayHandle: Bool {
    state.load(ordering: .sequentiallyConsistent) & (Bits.terminated | Bits.stillHandles)
      != Bits.terminated
  }

  /// Notes that the subscriber is about to be called for a notification, if it is alive.
  func noteCalled(by reference: borrowing WeakReference) {
    if state.load(ordering: .relaxed) & Bits.called == 0, reference.isAlive { noteFirstCall() }
  }

  /// Takes the fate of a notification whose handler has not thrown: a subscription whose subscriber was found dead
  /// ends.
  func fate(of fate: Notification.Fate, in call: CallKind) -> Notification.Fate {
    if fate == .expired { terminate(as: .expired, in: call) }
    return fate
  }

  /// Clears `attended`, unless the step is to handle a notification.
  ///
  /// Called under the lock of the contents.
  ///
  /// - Returns: `state` as it was, for ``followUp(_:_:)``; 0 if nothing was cleared.
  func leave(after step: Mailbox.Step) -> UInt64 {
    if case .handle = step { return 0 }
    return state.bitwiseAnd(~Bits.attended, ordering: .sequentiallyConsistent).oldValue
  }

  /// Does what follows an update of the mailbox, outside the lock.
  ///
  /// It resumes the tasks that wait for this subscription's handlers, requests a worker for what is left, and ends a
  /// subscription that has reached its end.
  @discardableResult
  func followUp(_ step: consuming Mailbox.Step, _ left: UInt64) -> Mailbox.Step {
    let awaited = state.load(ordering: .sequentiallyConsistent) & Bits.awaited
    if left & Bits.terminated | awaited != 0 { noteEnd(left | awaited) }
    if case .more = step { topic.owner?.requestWorker(for: self, priority: Task.currentPriority) }
    if case .over = step { topic.terminateIfOver(self) }
    return step
  }
}

extension SubscriptionNode {
  /// Drops what exceeds the limit of what was taken over, and requests a worker if anything may be taken.
  func resume() {
    // A stream's loop takes it without a worker.
    if state.load(ordering: .relaxed) & Bits.stream != 0 {
      if case .wake(let waiter) = attend(on: nil) { waiter?.resume(true) }
      return
    }
    let mustRequest = dropThenChange { contents, published in
      guard let published, contents.mailbox.termination == nil else { return false }
      return published > contents.mailbox.position && !contents.mailbox.flags.contains(.following)
    }
    // Not the priority of the task that subscribes.
    if mustRequest { topic.owner?.requestWorker(for: self, priority: .medium) }
  }
}
