/// How the loops of a stream take the place of workers.
///
/// A loop attends the mailbox only while it takes a notification. Then it has that in hand, until it asks for the next
/// one or its iterator is released, and another loop may take the next.
///
/// Invariant: what is pending is queued, unless a loop attends the mailbox, which looks again afterwards, or a delivery
/// has yet to look at it. What is being taken or in hand counts as a worker of the hub each; what is queued counts as
/// one if nothing is, for otherwise it waits for that.
extension SubscriptionNode {
  /// What a loop does next.
  enum Pull: Sendable {
    /// Runs the handler, then ``endTaking(_:of:)``.
    case take(Notification.Content, number: Int)
    /// Waits, and asks again.
    case wait(Waiter)
    /// The notification that was taken before has brought one more event.
    case received
    /// Ends: the subscription has.
    case over
  }

  /// Puts down what a loop has in hand, and takes the next notification.
  ///
  /// - Parameters:
  ///   - loop: the loops of the stream.
  ///   - hand: what this one has in hand.
  ///   - hasReceived: whether what was taken before has brought one more event.
  /// - Returns: what the loop does next.
  func pull(
    _ loop: StreamLoop, _ hand: inout StreamLoop.Hand?, unless hasReceived: () -> Bool
  ) -> Pull {
    var down: StreamLoop.Hand?
    let (pull, isOver, left) = touch { contents, published -> (Pull, Bool, Int) in
      let isAttended = contents.mailbox.flags.contains(.attended)
      if !isAttended, hasReceived() { return (.received, false, 0) }
      let former = contents.workers
      down = hand.take()
      if let down { contents.putDown(down) }
      let (pull, isOver) = self.pull(loop, &contents, unless: isAttended, published)
      let left = former - contents.workers
      if left < 0 { topic.owner?.begin() }
      return (pull, isOver, left)
    }
    settle(down, isOver: isOver, leaving: left)
    return pull
  }

  /// Called under the lock of the contents.
  private func pull(
    _ loop: StreamLoop, _ contents: inout Contents, unless isAttended: Bool, _ published: Int?
  ) -> (Pull, isOver: Bool) {
    if isAttended, published != nil { return (.wait(loop.makeWaiter()), false) }
    contents.mailbox.flags.remove(.queued)
    if attend(&contents.mailbox, published),
      case .handle(let content) = contents.mailbox.proceed(published: published)
    {
      return (.take(content, number: contents.mailbox.taken), false)
    }
    let isOver = published == nil || contents.isOver
    return (isOver ? .over : .wait(loop.makeWaiter()), isOver)
  }

  /// Leaves in a loop's hand what it has taken, when the handler has returned.
  func endTaking(_ hand: StreamLoop.Hand, of loop: StreamLoop, hasReceived: Bool) {
    let (word, waiter) = contents.withLock { contents -> (UInt64, Waiter?) in
      loop.take(hand.number)
      let published = published(to: contents.mailbox)
      let hasMore = contents.mailbox.handOver(published: published)
      if hasMore { contents.mailbox.flags.insert(.queued) }
      let mustWake = hasMore || hasReceived || published == nil
      return (leave(after: .done), mustWake ? loop.nextWaiter() : nil)
    }
    finishUpdate(.done, word)
    waiter?.resume(true)
  }

  /// Puts down what a loop has in hand.
  func putDown(_ hand: StreamLoop.Hand) {
    let (isOver, left) = contents.withLock { contents in
      let former = contents.workers
      contents.putDown(hand)
      return (contents.isOver, former - contents.workers)
    }
    settle(hand, isOver: isOver, leaving: left)
  }

  /// Does what follows when a loop has put something down, outside the lock.
  private func settle(_ hand: StreamLoop.Hand?, isOver: Bool, leaving left: Int) {
    if hand != nil || isOver {
      finishUpdate(isOver ? .over : .done, state.load(ordering: .sequentiallyConsistent))
      hand?.receipt?.pass(as: hand?.fate ?? .handled)
    }
    if left > 0 { topic.owner?.end() }
  }

  /// Removes a loop that waits no longer; if it was about to be resumed, another one is.
  func remove(_ waiter: Waiter, of loop: StreamLoop) {
    let next = contents.withLock { _ in loop.remove(waiter) ? nil : loop.nextWaiter() }
    next?.resume(true)
  }
}

extension SubscriptionNode.Contents {
  /// How many handlers of notifications run; what a stream's loop has in hand is one.
  var running: Int { hands + (mailbox.isHandling ? 1 : 0) }

  /// How many notifications a stream's loops have in hand.
  var hands: Int { options?.loop?.hands.count ?? 0 }

  /// Whether all that the subscription was to handle has been handled.
  var isOver: Bool { mailbox.isOver && hands == 0 }

  /// How many workers of the hub its loops count as.
  fileprivate var workers: Int {
    let taking = mailbox.flags.contains(.attended) ? 1 : 0
    return max(hands + taking, mailbox.flags.contains(.queued) ? 1 : 0)
  }

  fileprivate mutating func putDown(_ hand: StreamLoop.Hand) {
    options?.loop?.putDown(hand.number)
    mailbox.count(hand.fate)
  }
}

extension StreamLoop {
  /// Resumes all that wait: their subscription has ended.
  ///
  /// Must not be called under a lock.
  func end(of node: SubscriptionNode) {
    let waiters = node.contents.withLock { _ in self.waiters }
    for waiter in waiters { waiter.resume(true) }
  }
}
