/// How the loops of a stream take the place of workers.
///
/// A loop attends the mailbox only while it takes a notification. Then it has that in hand, until it asks for the next
/// one or its iterator is released, and another loop may take the next.
///
/// Invariant: what is pending is queued, unless a loop attends the mailbox, which looks again afterwards, or a delivery
/// has yet to look at it. What is queued, is being taken or is in hand counts as a worker of the hub each.
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
    // How many workers are counted for this loop.
    let (pull, isOver, counted) = touch { contents, published -> (Pull, Bool, Int) in
      let isAttended = contents.mailbox.flags.contains(.attended)
      if !isAttended, hasReceived() { return (.received, false, 0) }
      down = hand.take()
      if let down { contents.putDown(down) }
      var counted = down == nil ? 0 : 1
      if isAttended, published != nil { return (.wait(loop.makeWaiter()), false, counted) }
      if contents.mailbox.flags.remove(.queued) != nil { counted += 1 }
      if attend(&contents.mailbox, published),
        case .handle(let content) = contents.mailbox.proceed(published: published)
      {
        if counted == 0 { topic.owner?.begin() }
        return (.take(content, number: contents.mailbox.taken), false, counted - 1)
      }
      let isOver = published == nil || contents.isOver
      return (isOver ? .over : .wait(loop.makeWaiter()), isOver, counted)
    }
    settle(down, isOver: isOver)
    for _ in 0..<max(0, counted) { topic.owner?.end() }
    return pull
  }

  /// Leaves in a loop's hand what it has taken, when the handler has returned.
  func endTaking(_ hand: StreamLoop.Hand, of loop: StreamLoop, hasReceived: Bool) {
    let (word, waiter) = contents.withLock { contents -> (UInt64, Waiter?) in
      loop.take(hand.number)
      let published = published(to: contents.mailbox)
      let hasMore = contents.mailbox.handOver(published: published)
      if hasMore {
        contents.mailbox.flags.insert(.queued)
        topic.owner?.begin()
      }
      let mustWake = hasMore || hasReceived || published == nil
      return (leave(after: .done), mustWake ? loop.nextWaiter() : nil)
    }
    finishUpdate(.done, word)
    waiter?.resume(true)
  }

  /// Puts down what a loop has in hand.
  func putDown(_ hand: StreamLoop.Hand) {
    let isOver = contents.withLock { contents in
      contents.putDown(hand)
      return contents.isOver
    }
    settle(hand, isOver: isOver)
    topic.owner?.end()
  }

  /// Does what follows when a loop has put something down, outside the lock.
  private func settle(_ hand: StreamLoop.Hand?, isOver: Bool) {
    if hand == nil, !isOver { return }
    finishUpdate(isOver ? .over : .done, state.load(ordering: .sequentiallyConsistent))
    hand?.receipt?.pass(as: hand?.fate ?? .handled)
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

  fileprivate mutating func putDown(_ hand: StreamLoop.Hand) {
    options?.loop?.putDown(hand.number)
    mailbox.count(hand.fate)
  }
}
