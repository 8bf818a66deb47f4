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
    /// One more event of what was taken before; another loop is resumed if there are more.
    case goOn(StreamLoop.Hand, any Sendable, Waiter?)
    /// Waits, and asks again.
    case wait(Waiter)
    /// Ends: nothing comes any more that it could take.
    case over
  }

  /// Puts down what a loop has in hand, and takes the next notification, or the next event of one.
  ///
  /// - Parameters:
  ///   - loop: the loops of the stream.
  ///   - hand: what this one has in hand.
  ///   - end: the number of the first notification that it does not take.
  /// - Returns: what the loop does next.
  func pull(
    _ loop: StreamLoop, _ hand: inout StreamLoop.Hand?, before end: Int = .max
  ) -> Pull {
    putDown(&hand) { contents, published in
      if published != nil {
        if let left = loop.left, let event = loop.events.popLast() {
          loop.hands.append(left.number)
          let hasMore = !loop.events.isEmpty
          if !hasMore { loop.left = nil }
          return .goOn(left, event, hasMore ? loop.nextWaiter() : nil)
        }
        if contents.mailbox.position >= end { return .over }
        if contents.mailbox.flags.contains(.attended) { return .wait(loop.makeWaiter()) }
      }
      contents.mailbox.flags.remove(.queued)
      if attend(&contents.mailbox, published),
        case .handle(let content) = contents.mailbox.proceed(published: published)
      {
        return .take(content, number: contents.mailbox.taken)
      }
      // Even if another loop, or the caller itself, has the last event in hand.
      if published == nil || contents.mailbox.isOver { return .over }
      return .wait(loop.makeWaiter())
    }
  }

  /// Adds an event of the notification that a loop takes.
  func add(_ event: any Sendable, to loop: StreamLoop) {
    contents.withLock { _ in loop.events.append(event) }
  }

  /// Leaves in a loop's hand what it has taken, when the handler has returned.
  ///
  /// - Returns: the first event that it has brought.
  func endTaking(_ hand: StreamLoop.Hand, of loop: StreamLoop) -> (any Sendable)? {
    typealias Taken = (event: (any Sendable)?, word: UInt64, Waiter?, isOver: Bool, isEnded: Bool)
    let (event, word, waiter, isOver, isEnded) = contents.withLock { contents -> Taken in
      loop.hands.append(hand.number)
      if loop.events.count > 1 { loop.events.reverse() }
      let event = loop.events.popLast()
      let hasMore = !loop.events.isEmpty
      if hasMore { loop.left = hand }
      let published = published(to: contents.mailbox)
      let isPending = contents.mailbox.handOver(published: published)
      if isPending { contents.mailbox.flags.insert(.queued) }
      let waiter = isPending || hasMore ? loop.nextWaiter() : nil
      return (event, leave(after: .done), waiter, contents.mailbox.isOver, published == nil)
    }
    finishUpdate(.done, word)
    waiter?.resume(true)
    if isEnded { endLoop(loop) } else if isOver { loop.wakeAll(of: self) }
    return event
  }

  /// Puts down what a loop has in hand.
  func putDown(_ hand: inout StreamLoop.Hand?) { putDown(&hand) { _, _ in } }

  private func putDown<Result: Sendable>(
    _ hand: inout StreamLoop.Hand?, then body: (inout Contents, Int?) -> Result
  ) -> Result {
    let former = hand.take()
    let (result, fate, word, isOver, left) = touch {
      contents, published -> (Result, Notification.Fate?, UInt64, Bool, Int) in
      let workers = contents.workers
      let fate = former.flatMap { contents.putDown($0) }
      let result = body(&contents, published)
      let left = workers - contents.workers
      if left < 0 { topic.owner?.begin() }
      let word = fate == nil ? 0 : state.load(ordering: .sequentiallyConsistent)
      return (result, fate, word, contents.isOver, left)
    }
    if let fate { former?.receipt?.pass(as: fate, isAbandoned: word & Bits.abandoned != 0) }
    if fate != nil || isOver { finishUpdate(isOver ? .over : .done, word) }
    if left > 0 { topic.owner?.end() }
    return result
  }

  /// Ends the loops of a stream whose subscription has ended: nobody takes what is left of a notification.
  ///
  /// Must not be called under a lock.
  func endLoop(_ loop: StreamLoop) {
    loop.wakeAll(of: self)
    var (hand, events) = contents.withLock { contents -> (StreamLoop.Hand?, [any Sendable]) in
      let workers = contents.workers
      guard let left = loop.left.take() else { return (nil, []) }
      loop.hands.append(left.number)
      loop.lost = left.number
      defer { loop.events = [] }
      if contents.workers > workers { topic.owner?.begin() }
      return (left, loop.events)
    }
    if hand != nil { putDown(&hand) }
    withExtendedLifetime(events) { events = [] }
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

  /// The numbers of the notifications whose handlers run, of those that wait for it.
  var taken: [Int] {
    running == 0 ? [] : (numbers + [mailbox.taken]).filter { $0 >= mailbox.joined }
  }

  /// How many notifications a stream's loops have in hand.
  var handling: Int { hands == 0 ? 0 : numbers.count }

  /// Their numbers, each once.
  private var numbers: [Int] {
    guard let loop = options?.loop else { return [] }
    let all = loop.hands + (loop.left.map { [$0.number] } ?? [])
    return Set(all).sorted()
  }

  /// How many loops of a stream have something in hand; one if nobody does and something is left.
  var hands: Int { options?.loop?.count ?? 0 }

  /// Whether all that the subscription was to handle has been handled.
  var isOver: Bool { mailbox.isOver && hands == 0 }

  /// How many workers of the hub its loops count as.
  fileprivate var workers: Int {
    let taking = mailbox.flags.contains(.attended) ? 1 : 0
    return max(hands + taking, mailbox.flags.contains(.queued) ? 1 : 0)
  }

  /// - Returns: what has become of it, once all of its events have been put down.
  fileprivate mutating func putDown(_ hand: StreamLoop.Hand) -> Notification.Fate? {
    let loop = options?.loop
    if let loop {
      if let index = loop.hands.firstIndex(of: hand.number) { loop.hands.remove(at: index) }
      if loop.hands.contains(hand.number) || loop.left?.number == hand.number { return nil }
    }
    let fate = hand.fate == .handled && hand.number == loop?.lost ? .expired : hand.fate
    mailbox.count(fate)
    return fate
  }
}

extension StreamLoop {
  /// Resumes all that wait: nothing comes for them any more.
  ///
  /// Must not be called under a lock.
  func wakeAll(of node: SubscriptionNode) {
    let waiters = node.contents.withLock { _ in
      defer { self.waiters = [] }
      return self.waiters
    }
    for waiter in waiters { waiter.resume(true) }
  }
}
