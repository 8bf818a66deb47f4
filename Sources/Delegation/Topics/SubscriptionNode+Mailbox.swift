internal import Synchronization

extension SubscriptionNode {
  /// How many notifications have been posted, up to the mailbox's `end`; `nil` once the termination has begun.
  ///
  /// Called under the lock of the contents: a count loaded before the lock is taken could miss notifications for which
  /// another worker has set ``Mailbox/Flags/recheck``. `state` is loaded after the count: if it says open, nothing
  /// counted was posted after a termination.
  func published(to mailbox: borrowing Mailbox) -> Int? {
    let published = published
    return isOpen ? min(published, mailbox.end) : nil
  }

  var published: Int { topic.published.load(ordering: .acquiring) }

  /// Ends the subscription once the notifications before a number have been handled.
  func finish(at number: Int) {
    contents.withLock { $0.mailbox.finish(at: number) }
    topic.terminateIfOver(self)
  }

  /// Changes the contents, after the mailbox has dropped what exceeds its limit.
  ///
  /// The dropped notifications are reported and released outside the lock. A flood is dropped in pieces, so that each
  /// section is short: a thread that subscribes a replacement waits for this lock while it holds the topic's, for which
  /// posters wait. Releasing is slower than posting, so the pieces are released after the loop, which otherwise might
  /// never end.
  func dropThenChange<Result: Sendable>(_ body: (inout Contents, Int?) -> Result) -> Result {
    var (pieces, id) = ([Mailbox.Remains](), Identity?.none)
    while true {
      let (result, piece) = contents.withLock { contents -> (Result?, Mailbox.Remains?) in
        var published = published(to: contents.mailbox)
        let mustDrop = contents.mailbox.mustDrop(published: published)
        // The id is read here, because the subscription may end before the drops are reported.
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

  /// Drops what exceeds the limit; if the mailbox is at its `end`, drops beyond `end`, and sets `published` to `end`.
  ///
  /// Not inlined, because `dropThenChange` has many copies.
  @inline(never)
  private func drop(from mailbox: inout Mailbox, _ published: inout Int?) -> Mailbox.Remains? {
    // Loaded before `isOpen`: if that is true, nothing counted was posted after a termination.
    let all = self.published
    guard mailbox.position >= mailbox.end else { return mailbox.dropOldest(published: published) }
    guard isOpen else { return nil }
    defer { published = mailbox.end }
    return mailbox.dropBeyondEnd(published: all)
  }

  /// Notes the drops in the notifications' receipts, and reports them; not inlined: `dropThenChange` has many copies.
  @inline(never)
  private func release(_ pieces: [Mailbox.Remains], of id: Identity?) {
    var last: TaskLocalPropagation.Context?
    for piece in pieces { last = piece.passReceipts(by: reference)?.context }
    let dropped = contents.withLock { $0.mailbox.takeUnreportedDrops() }
    if dropped > 0 { report(.dropped, in: .notify, dropped: dropped, context: last, with: id) }
  }

  /// Whether the notification of a receipt waits in this mailbox, or is in hand.
  func hasPending(_ receipt: Receipt) -> Bool {
    guard let position = receipt.position, position.topic == topic.number else { return false }
    return contents.withLock { $0.mailbox.hasPending(position.number) }
  }

  /// What became of the notifications addressed to this subscription so far; drops first what exceeds the limit.
  var account: Account {
    dropThenChange { contents, number in
      // The drops were decided by `number`: by it, no more wait than the limit allows. A finishing mailbox also counts
      // what was posted beyond its `end`.
      let published = contents.mailbox.isFinishing ? nil : number
      return contents.mailbox.account(published: published ?? self.published)
    }
  }
}

/// What workers do with a subscription's mailbox.
extension SubscriptionNode {
  /// Begins to attend the mailbox, if a notification is pending and nobody attends it; queues the mailbox instead if
  /// another executor or a stream's loop serves it.
  ///
  /// - Parameter executorID: the executor of the worker; `nil` for the default executor.
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

  /// Begins to attend the mailbox, unless it is occupied, empty or ended; called under the lock of the contents.
  func attend(_ mailbox: inout Mailbox, _ published: Int?) -> Bool {
    guard mailbox.attend(published: published) else { return false }
    let word = state.bitwiseOr(Bits.attended, ordering: .sequentiallyConsistent).oldValue
    if word & Bits.terminated == 0 { return true }
    // Another thread terminated the subscription first, and took the mailbox for unattended: this worker leaves it.
    _ = leave(after: mailbox.proceed(published: nil))
    return false
  }

  /// Takes the mailbox out of its executor's delivery; the calling worker counts off the mailbox when done with it.
  ///
  /// - Returns: whether the mailbox was in the delivery: not if the subscription has ended.
  func leaveDelivery() -> Bool { contents.withLock { $0.mailbox.flags.remove(.queued) != nil } }

  /// Reports a notification's fate to its mailbox and its receipt; see ``Mailbox/advance(after:published:)``.
  @inline(__always)
  func advance(after fate: Notification.Fate, passing receipt: Receipt? = nil) -> Mailbox.Step {
    let (step, left) = contents.withLock { contents -> (Mailbox.Step, UInt64) in
      let step = contents.mailbox.advance(after: fate, published: published(to: contents.mailbox))
      return (step, leave(after: step))
    }
    // The receipt is told first: `followUp` may release the subscriber, whose `deinit` may take long.
    receipt?.pass(as: fate, hasEndedInHand: left & Bits.endedInHand != 0)
    return followUp(step, left)
  }

  /// Whether the handler of a notification that was taken may begin.
  ///
  /// After a replacement it may, because the replacement does not get what was taken. After a cancellation it may not.
  var mayHandle: Bool {
    state.load(ordering: .sequentiallyConsistent) & (Bits.terminated | Bits.stillHandles)
      != Bits.terminated
  }

  /// Notes that the subscriber is called for a notification, if it is alive.
  func noteCalled(by reference: borrowing WeakReference) {
    if state.load(ordering: .relaxed) & Bits.called == 0, reference.isAlive { noteFirstCall() }
  }

  /// Ends the subscription if a handler found the subscriber dead; returns the notification's fate unchanged.
  func fate(of fate: Notification.Fate, in call: CallKind) -> Notification.Fate {
    if fate == .expired { terminate(as: .expired, in: call) }
    return fate
  }

  /// Clears the bit ``Bits/attended``, unless the step is to handle a notification.
  ///
  /// Called under the lock of the contents.
  ///
  /// - Returns: `state` before that, for ``followUp(_:_:)``; 0 if nothing was cleared.
  func leave(after step: Mailbox.Step) -> UInt64 {
    if case .handle = step { return 0 }
    return state.bitwiseAnd(~Bits.attended, ordering: .sequentiallyConsistent).oldValue
  }

  /// After the mailbox was left, outside the lock: resumes the tasks that wait for this subscription's handlers,
  /// requests a worker for what is left, and terminates a subscription whose mailbox is at its `end`.
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
  /// Starts work on notifications that were taken over or are replayed, after dropping those beyond the limit.
  func resume() {
    // A stream needs no worker: its loop takes the notifications.
    if state.load(ordering: .relaxed) & Bits.stream != 0 {
      if case .wake(let waiter) = attend(on: nil) { waiter?.resume(true) }
      return
    }
    let mustRequest = dropThenChange { contents, published in
      guard let published, contents.mailbox.termination == nil else { return false }
      return published > contents.mailbox.position && !contents.mailbox.flags.contains(.following)
    }
    // Medium priority, not that of the subscribing task.
    if mustRequest { topic.owner?.requestWorker(for: self, priority: .medium) }
  }
}
