internal import Synchronization

/// How a subscription's mailbox is looked into and changed.
extension SubscriptionNode {
  /// How many notifications have been posted; `nil` if the subscription is not open.
  ///
  /// To be read under the lock of the contents: a worker that set ``Mailbox/Flags/recheck`` had seen the
  /// notifications that it set it for, and a count that was read before the lock could miss them. The
  /// count is loaded before the state, so that it includes nothing that was posted after the termination
  /// and so was not addressed to the subscription.
  func published(to mailbox: borrowing Mailbox) -> Int? {
    let published = published
    return isOpen ? min(published, mailbox.end) : nil
  }

  /// How many notifications have been posted.
  var published: Int { topic.published.load(ordering: .acquiring) }

  /// Changes the contents, after a mailbox with a limit has gone on in the chain as far as it has to.
  ///
  /// It reports and releases what was dropped, outside the lock. A flood is dropped in pieces: a poster may wait for who
  /// subscribes, and that one for this lock. The pieces are released after the last of them, which takes longer than to
  /// post: there would always be one more.
  func touch<Result: Sendable>(_ body: (inout Contents, Int?) -> Result) -> Result {
    var (pieces, id) = ([Mailbox.Remains](), Identity?.none)
    while true {
      let (result, piece) = contents.withLock { contents -> (Result?, Mailbox.Remains?) in
        var published = published(to: contents.mailbox)
        let mustDrop = contents.mailbox.mustDrop(published: published)
        // Read here: it may end before what was dropped is told.
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

  /// Not inlined, for `touch` has many copies.
  @inline(never)
  private func drop(from mailbox: inout Mailbox, _ published: inout Int?) -> Mailbox.Remains? {
    // Before it is known to be open: what is posted later is not addressed to it.
    let all = self.published
    guard mailbox.position >= mailbox.end else { return mailbox.dropOldest(published: published) }
    guard isOpen else { return nil }
    defer { published = mailbox.end }
    return mailbox.dropBeyondEnd(published: all)
  }

  /// Passes the receipts of what was dropped, and reports that; not inlined, either.
  @inline(never)
  private func release(_ pieces: [Mailbox.Remains], of id: Identity?) {
    var last: TaskLocalPropagation.Context?
    for piece in pieces { last = piece.passReceipts(by: reference)?.context }
    let dropped = contents.withLock { $0.mailbox.takeUnreportedDrops() }
    if dropped > 0 { report(.dropped, in: .notify, dropped: dropped, context: last, with: id) }
  }

  /// Whether the notification of a receipt was addressed to this subscription, which has not passed it.
  func hasPending(_ receipt: Receipt) -> Bool {
    guard let position = receipt.position, position.topic == topic.number else { return false }
    return contents.withLock { $0.mailbox.hasPending(position.number) }
  }

  /// What became of the notifications addressed to this subscription so far.
  var account: Account {
    touch { contents, number in
      // The same number up to which a mailbox with a limit has gone on: no more waits than it may. After an end the rest
      // waits, too.
      let published = contents.mailbox.isFinishing ? nil : number
      return contents.mailbox.account(published: published ?? self.published)
    }
  }
}

/// What workers do with a subscription's mailbox.
extension SubscriptionNode {
  /// Begins to attend the mailbox, if a notification is pending and no other worker attends; if the subscription's
  /// executor is another one, the mailbox waits in its delivery instead.
  ///
  /// - Parameter executorID: where the worker runs; `nil` if it has no executor of its own.
  /// - Returns: what the worker does next.
  func attend(on executorID: ObjectIdentifier?) -> Mailbox.Step {
    guard isOpen else { return .done }
    let (step, left) = touch { contents, published -> (Mailbox.Step, UInt64) in
      if let options = contents.options, !options.isServed(on: executorID) {
        let isFirst = contents.mailbox.attend(published: published, as: .queued)
        if isFirst { topic.owner?.begin() }
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
    // The thread that terminated the subscription meanwhile has found it unattended.
    _ = leave(after: mailbox.proceed(published: nil))
    return false
  }

  /// Takes the mailbox out of its delivery, for a worker there, which counts it off when it is done.
  ///
  /// - Returns: whether it was there: not if the subscription has ended.
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
    // First: the rest may release the subscriber, whose `deinit` may take its time.
    receipt?.pass(as: fate, isAbandoned: left & Bits.abandoned != 0)
    return followUp(step, left)
  }

  /// Whether the handler of a notification that was taken may begin.
  ///
  /// If another subscription has taken the place since, it may: the notification is not the successor's.
  var mayHandle: Bool {
    state.load(ordering: .sequentiallyConsistent) & (Bits.terminated | Bits.succeeded)
      != Bits.terminated
  }

  /// Clears `attended` if the step says that the mailbox is no longer attended.
  ///
  /// Called under the lock of the contents.
  ///
  /// - Returns: the state before, for ``followUp(_:_:)``; 0 if the mailbox is still attended.
  func leave(after step: Mailbox.Step) -> UInt64 {
    if case .handle = step { return 0 }
    return state.bitwiseAnd(~Bits.attended, ordering: .sequentiallyConsistent).oldValue
  }

  /// Does what follows an update of the mailbox, outside the lock.
  ///
  /// It resumes the tasks that wait for this subscription's handlers, requests a worker for what is left.
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
  /// Keeps its limit for what it has taken over, and requests a worker if anything is pending and may be taken.
  func resume() {
    // The loops of a stream take it without a worker.
    if state.load(ordering: .relaxed) & Bits.stream != 0 {
      if case .wake(let waiter) = attend(on: nil) { waiter?.resume(true) }
      return
    }
    let mustRequest = touch { contents, published in
      guard let published, contents.mailbox.termination == nil else { return false }
      return contents.mailbox.hasMore(published) && !contents.mailbox.flags.contains(.following)
    }
    // Not with that of the task that subscribes.
    if mustRequest { topic.owner?.requestWorker(for: self, priority: .medium) }
  }

  /// The other subscriptions of the same object that have ended and whose handlers may run.
  var endedOnes: [SubscriptionNode] {
    guard let object = reference.object else { return [] }
    return topic.ended(of: object).filter { $0 !== self }
  }
}
