/// How a stream's loop is the worker that attends its mailbox.
///
/// While something waits for the loop or is in its hands, it is counted as a worker of the hub: the mailbox is queued or
/// attended.
extension SubscriptionNode {
  enum Pull: Sendable {
    case take(Notification.Content, number: Int)
    case wait(Waiter)
    /// Something has been received before.
    case received
    case over
  }

  /// Reports the notification in hand as handled, and takes the next one; if there is none, the waiter is resumed when one
  /// comes.
  func pull(_ loop: StreamLoop, unless hasReceived: () -> Bool) -> Pull {
    let (pull, step, left, passed, isLeft) = touch {
      contents, published -> (Pull, Mailbox.Step, UInt64, (receipt: Receipt?, fate: Notification.Fate)?, Bool) in
      if loop.isTaking { return (.wait(loop.makeWaiter()), .done, 0, nil, false) }
      if hasReceived() { return (.received, .done, 0, nil, false) }
      let (receipt, fate) = loop.putDown()
      var (step, left) = (Mailbox.Step.done, UInt64(0))
      let isCounted = contents.mailbox.flags.remove(.queued) != nil || contents.mailbox.isHandling
      if contents.mailbox.isHandling {
        step = contents.mailbox.advance(after: fate, published: published)
        left = leave(after: step)
      }
      if case .handle = step {
      } else if attend(&contents.mailbox, published) {
        step = contents.mailbox.proceed(published: published)
      }
      switch step {
      case .handle(let content):
        if !isCounted { topic.owner?.begin() }
        let number = contents.mailbox.position - 1
        (loop.receipt, loop.number, loop.isTaking) = (content.receipt, number, true)
        return (.take(content, number: number), .done, left, (receipt, fate), false)
      case .over:
        return (.over, step, left, (receipt, fate), isCounted)
      default:
        let pull = published == nil ? Pull.over : .wait(loop.makeWaiter())
        return (pull, .done, left, (receipt, fate), isCounted)
      }
    }
    if let passed { passed.receipt?.pass(as: passed.fate) }
    finishUpdate(step, left)
    if isLeft { topic.owner?.end() }
    return pull
  }

  /// Notes that a loop has what it has brought; if more waits, another loop may take it.
  func endTaking(_ loop: StreamLoop, as fate: Notification.Fate, _ hasMore: () -> Bool) {
    let next = contents.withLock { contents -> Waiter? in
      loop.isTaking = false
      loop.fate = fate
      if loop.waiters.isEmpty { return nil }
      let published = published(to: contents.mailbox)
      return published.map(contents.mailbox.hasMore) ?? true || hasMore() ? loop.nextWaiter() : nil
    }
    next?.resume(true)
  }

  /// Reports a notification as handled, if it is in hand; what waits waits for another loop.
  func release(_ number: Int, of loop: StreamLoop) {
    let released = touch { contents, published -> (Mailbox.Step, UInt64, (receipt: Receipt?, fate: Notification.Fate), Waiter?, Bool)? in
      guard loop.number == number else { return nil }
      let passed = loop.putDown()
      let step = contents.mailbox.advance(after: passed.fate, published: nil)
      let left = leave(after: step)
      let isQueued = contents.mailbox.attend(published: published, as: .queued)
      return (step, left, passed, isQueued ? loop.nextWaiter() : nil, isQueued)
    }
    guard let (step, left, passed, waiter, isQueued) = released else { return }
    passed.receipt?.pass(as: passed.fate)
    finishUpdate(step, left)
    if !isQueued { topic.owner?.end() }
    waiter?.resume(true)
  }

  /// Removes a waiter; if it was about to be resumed, another one is.
  func remove(_ waiter: Waiter, of loop: StreamLoop) {
    let next = contents.withLock { _ in loop.remove(waiter) ? nil : loop.nextWaiter() }
    next?.resume(true)
  }

  /// Resumes one that waits for the loop's next event.
  func wake(_ loop: StreamLoop) {
    contents.withLock { _ in loop.isTaking ? nil : loop.nextWaiter() }?.resume(true)
  }

  /// Ends the subscription once the notifications up to a number have been handled.
  func finish(at number: Int) {
    let isOver = contents.withLock { contents in
      contents.mailbox.end = min(contents.mailbox.end, number)
      return !contents.mailbox.isHandling && contents.mailbox.position >= contents.mailbox.end
    }
    if isOver { terminate(as: .cancelled) }
  }
}
