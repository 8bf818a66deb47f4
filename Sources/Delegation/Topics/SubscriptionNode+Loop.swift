/// How the loop over a stream takes notifications itself, instead of a worker.
///
/// The loop *attends* the mailbox while it has a notification *in hand*: from taking it until *putting it down*, when
/// the loop asks for the next one or its iterator is released. A mailbox is *queued* while something in it waits for
/// the loop.
///
/// Invariant: a mailbox with something pending is attended or queued, or a delivery has yet to look at it. An attended
/// or queued mailbox counts as one worker of the hub.
extension SubscriptionNode {
  /// What a loop does next.
  enum Pull: Sendable {
    /// Runs the handler of this notification.
    case take(Notification.Content, number: Int)
    /// Lets other tasks run, then pulls again.
    case pause
    /// Waits, then pulls again; resumes another loop that already waits, because only one may wait.
    case wait(Waiter, insteadOf: Waiter?)
    /// Ends: the loop may take and await nothing more, or its task is cancelled.
    case over
  }

  /// Puts down the notification in hand, and takes the next one.
  ///
  /// - Parameters:
  ///   - loop: the stream's loop.
  ///   - end: the number of the first notification that the loop does not take.
  ///   - mayWait: whether the loop waits if nothing is pending.
  /// - Returns: what the loop does next.
  func pull(_ loop: StreamLoop, before end: Int, waiting mayWait: Bool) -> Pull {
    update(loop) { contents, published, former in
      // Checked under the lock: a cancelled loop must not put down a notification that another loop has taken since.
      if Task.isCancelled { return .over }
      if let waiter = loop.waitForTaking() { return .wait(waiter, insteadOf: nil) }
      former = contents.putDown(as: .handled, published)
      guard let published, contents.mailbox.position < end else { return .over }
      loop.takenInARow += 1
      if loop.takenInARow > Mailbox.mostHandledAtOnce {
        loop.takenInARow = 0
        return .pause
      }
      contents.mailbox.flags.remove(.queued)
      if attend(&contents.mailbox, published),
        case .handle(let content) = contents.mailbox.proceed(published: published, taking: 1)
      {
        loop.open()
        loop.hand = (contents.mailbox.inHand, content.receipt, .handled)
        return .take(content, number: contents.mailbox.inHand)
      }
      if contents.mailbox.isOver || !mayWait { return .over }
      let (waiter, former) = (Waiter(), loop.waiter)
      (loop.waiter, loop.takenInARow) = (waiter, 0)
      return .wait(waiter, insteadOf: former)
    }
  }

  /// Puts down notification `number`, if it is in hand.
  func putDown(_ number: Int, of loop: StreamLoop, as fate: Notification.Fate) {
    update(loop) { contents, published, former in
      if loop.hand?.number == number { former = contents.putDown(as: fate, published) }
    }
  }

  /// Runs `body` under the lock; passes the receipt of what `body` puts down, and follows up if the mailbox was left.
  private func update<Result: Sendable>(
    _ loop: StreamLoop, _ body: (inout Contents, Int?, inout StreamLoop.Hand?) -> Result
  ) -> Result {
    let (result, former, word, isOver, change) = dropThenChange {
      contents, published -> (Result, StreamLoop.Hand?, UInt64, Bool, Int) in
      let workers = contents.workers
      var former: StreamLoop.Hand?
      let result = body(&contents, published, &former)
      // Queues the mailbox if something is pending. If `body` has attended the mailbox, this only sets `recheck`.
      _ = contents.mailbox.attend(published: published, as: .queued)
      let isLeft = former != nil && !contents.mailbox.flags.contains(.attended)
      let word = isLeft ? leave(after: .done) : 0
      let change = contents.workers - workers
      if change > 0 { topic.owner?.countWorker() }
      return (result, former, word, contents.mailbox.isOver, change)
    }
    if let former {
      former.receipt?.pass(as: former.fate, hasEndedInHand: word & Bits.endedInHand != 0)
    }
    if word != 0 || isOver { followUp(isOver ? .over : .done, word) }
    if change < 0 { topic.owner?.uncountWorker() }
    return result
  }

  /// Notes the fate of notification `number`, if it is in hand.
  func note(_ fate: Notification.Fate, of number: Int, in loop: StreamLoop) {
    contents.withLock { _ in if loop.hand?.number == number { loop.hand?.fate = fate } }
  }

  /// Removes a waiter that waits no longer.
  ///
  /// - Returns: whether another loop waits.
  func remove(_ waiter: Waiter, of loop: StreamLoop) -> Bool {
    contents.withLock { _ in
      if loop.waiter === waiter { loop.waiter = nil }
      return loop.waiter != nil
    }
  }

  /// Resumes the stream's loop if one waits: nothing more comes.
  ///
  /// Must not be called under a lock.
  func wake(_ loop: StreamLoop?) { contents.withLock { _ in loop?.waiter.take() }?.resume(true) }
}

extension SubscriptionNode.Contents {
  /// How many workers of the hub a stream counts as.
  fileprivate var workers: Int { mailbox.flags.isDisjoint(with: [.attended, .queued]) ? 0 : 1 }

  /// Puts down, and returns, what a stream's loop has in hand.
  fileprivate mutating func putDown(
    as fate: Notification.Fate, _ published: Int?
  ) -> StreamLoop.Hand? {
    guard var hand = options?.loop?.hand.take() else { return nil }
    if hand.fate == .handled { hand.fate = fate }
    // `advance` takes nothing: `pull` has taken with a budget of one.
    _ = mailbox.advance(after: hand.fate, published: published)
    return hand
  }
}
