/// The events of one subscription, as a sequence for a `for await` loop.
///
/// ``Subscribable/stream(id:priority:mailbox:fileID:line:)`` makes a stream.
///
/// Events wait in the subscription's mailbox, and nowhere else, until a loop takes them. The event that a loop has
/// taken is *in hand* until the loop asks for the next one, or its iterator is released, as after a `break`: then the
/// event is *handled*. ``DelegateHub/drain(within:)`` and `notifyAndWait` wait until then, so a slow loop slows a
/// poster that waits; leftovers name the line that made the stream. If an event waits in a stream that is retained and
/// not looped over, a `drain` without a deadline waits for ever.
///
/// **End.** The stream ends with its subscription: when the subscription is cancelled, when a loop finds its task
/// cancelled, and when the stream and its iterators are released. If the subscription or its protocol is finished, or
/// the hub released, the stream ends after what was posted before.
///
/// **Order.** The order of posting. A stream has one loop at a time. A loop may go on where another has left off: then
/// the event that the other has in hand counts as handled. Two loops that wait for the next event at once stop the
/// program with a message that names the line, unless the first one's task is cancelled. A notification brings a stream
/// one event: its second `receive` throws.
///
/// **Cancellation.** If a loop's task is cancelled by the time the loop asks for the next event or its iterator is
/// released, the event in hand counts as missed: it may not have been handled. If another loop goes on first, the event
/// counts as handled.
///
/// **Errors.** Nobody learns what the loop's body throws or catches: the event counts as handled. The body is no
/// handler of the hub's: interceptors, `slowAfter` and `propagating` end when the event is handed over.
///
/// **Re-entrancy.** As in a handler, a wait such as `drain` in the loop's body leaves out the events that its task has
/// in hand; one in a task that the body starts does not. Exception: a loop in a `Task` that a voter started and nobody
/// awaits waits for itself: use a `Task.detached`.
///
/// **Questions.** A stream takes only what is posted. `forEach` and questions pass it over;
/// ``DelegateHub/Statistics/Counts/passedOver`` counts that. A `receive` that you call yourself throws, unless a loop
/// takes an event at that moment.
///
/// ```swift
/// let stream = events.stream()
/// Task {
///   for await event in stream { await log.write(event) }
/// }
/// ```
public struct EventStream<Event: Sendable>: AsyncSequence, Sendable {
  /// The events.
  public typealias Element = Event
  /// A stream does not fail.
  public typealias Failure = Never

  let source: StreamSource<Event>

  /// The stream's subscription; the stream ends when it ends.
  public var subscription: DelegateHub.Subscription { source.subscription }

  /// Makes an iterator, by which a loop takes the events.
  public func makeAsyncIterator() -> Iterator { Iterator(turn: turn) }

  private var turn: StreamIteration { .init(source.loop, of: subscription.node, keeping: source) }

  /// An iterator, which takes the events one at a time.
  public struct Iterator: AsyncIteratorProtocol {
    let turn: StreamIteration

    /// Takes the next event, and marks the one before as handled.
    ///
    /// - Returns: the event; `nil` once the subscription has ended, which a cancelled task causes.
    /// - Complexity: O(1), and O(*n*) in the *n* events that a limit has dropped, apart from the waiting.
    public mutating func next() async -> Event? { await next(isolation: nil) }

    /// Takes the next event, as ``next()``, for a caller on an actor.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Event? {
      if let event = await turn.next(until: nil) { return (event as! Event) }
      if Task.isCancelled { turn.node.terminate(as: .cancelled) }
      turn.end()
      return nil
    }
  }

  /// The next event for which a condition holds.
  ///
  /// When it returns, that event and those before it count as handled; later ones wait. To post something and await the
  /// answer, make the stream first:
  ///
  /// ```swift
  /// let replies = events.stream()
  /// events.post(.question(number))
  /// let reply = await replies.next(within: .seconds(2)) { $0.answers(number) }
  /// ```
  ///
  /// **Isolation.** The condition runs where the caller is.
  ///
  /// **Re-entrancy.** A poster's closure must not call this for a stream that it delivers to: it would wait for itself.
  ///
  /// **Cancellation.** If the caller's task is cancelled it returns `nil`; the subscription goes on.
  ///
  /// - Parameters:
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for no limit. With zero or less it only looks at
  ///     events that wait already. It waits past that time for a poster's closure that suspends, and for interceptors.
  ///   - condition: whether the event is the one to return; by default any event is.
  /// - Returns: the event; `nil` at the deadline, on cancellation, and at the end of the stream.
  /// - Complexity: O(*n*) in the *n* events that it looks at or that a limit drops, apart from the waiting.
  public nonisolated(nonsending) func next(
    within duration: Duration? = nil, where condition: (Event) -> Bool = { _ in true }
  ) async -> Event? {
    let deadline = duration.flatMap { subscription.node.topic.deadlines.deadline(after: $0) }
    // With no time to wait, events posted from now on are left out: the condition may post, and others may post faster
    // than this loop looks.
    let end = deadline?.isPast == true ? subscription.node.published : .max
    let turn = turn
    defer { turn.end(as: .handled) }
    while let next = await turn.next(until: deadline, before: end) {
      let event = next as! Event
      if condition(event) { return event }
      // A deadline that was past at the start has set `end` instead.
      if let deadline, !deadline.isPast, deadline.hasCome { return nil }
    }
    return nil
  }
}

extension Subscribable {
  /// Subscribes, and gives the events that are posted from now on as a stream.
  ///
  /// It subscribes at once: what is posted after this call is in the stream, even if nobody loops over it yet. So make
  /// the stream before the task that loops: a stream that is made in the task misses what is posted until the task has
  /// begun. See ``EventStream`` for when events are handled, and when the stream ends.
  ///
  /// **Order.** The order of posting.
  ///
  /// **Isolation.** Works from any thread and from every handler.
  ///
  /// ```swift
  /// let stream = events.stream(mailbox: .dropOldest(limit: 100))
  /// let task = Task { for await event in stream { await show(event) } }
  /// ```
  ///
  /// - Parameters:
  ///   - id: identifies the stream. A later stream with an equal id replaces this one and gets what waits, without gap
  ///     or repetition, while this one is subscribed (a cancelled loop ends the subscription). The event that the older
  ///     stream's loop has in hand stays there; the newer stream gets its first event when that one is handled or
  ///     missed.
  ///   - priority: higher is served first; 0 by default.
  ///   - mailbox: what to do when events come faster than the loop takes them; by default all of them wait. What a
  ///     limit drops is counted.
  ///   - fileID: the source file that makes the stream, for diagnostics.
  ///   - line: the line that makes it.
  /// - Returns: the stream.
  /// - Complexity: O(1), amortised.
  public func stream<Event: Sendable>(
    id: (any Hashable & Sendable)? = nil, priority: Int? = nil,
    mailbox: DelegateHub.MailboxPolicy? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> EventStream<Event> where P == any EventReceiver<Event> {
    let source = StreamSource<Event>()
    let options = SubscriptionOptions(
      of: source, id: id.map { Identity($0) }, policy: mailbox, loop: source.loop)
    source.subscription = registry.add(source, options, priority: priority, at: (fileID, line))
    return EventStream(source: source)
  }

  /// The next event that is posted from now on and for which a condition holds.
  ///
  /// It looks at events posted after this call, and at those that are replayed (`Events(replaying:)`): so with a replay
  /// it waits until something *is* so, not until it becomes so. To post and await the answer, make a stream first, and
  /// call its ``EventStream/next(within:where:)``.
  ///
  /// ```swift
  /// let ready = await registry.next(within: .seconds(2)) { $0 == .ready }
  /// ```
  ///
  /// **Isolation.** The condition runs where the caller is.
  ///
  /// - Parameters:
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for no limit. With zero or less it does
  ///     not wait.
  ///   - fileID: the source file that waits, for diagnostics.
  ///   - line: the line that waits.
  ///   - condition: whether the event is the one to return.
  /// - Returns: the event; `nil` at the deadline, on cancellation, and when the hub is released or the protocol
  ///   finished.
  /// - Complexity: O(*n*) in the *n* events that it looks at, apart from the waiting.
  public nonisolated(nonsending) func next<Event: Sendable>(
    within duration: Duration? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    where condition: (Event) -> Bool = { _ in true }
  ) async -> Event? where P == any EventReceiver<Event> {
    await stream(fileID: fileID, line: line).next(within: duration, where: condition)
  }
}

/// The state of one iterator, whose release marks the event in hand as handled.
///
/// It does not keep the hub alive. It does not know the type of the events, because generic code that is not
/// specialized is long and slow.
final class StreamIteration {
  private let loop: StreamLoop
  fileprivate let node: SubscriptionNode
  /// The subscriber; retained, because its release ends the subscription.
  private let source: AnyObject
  private let worker: Worker
  /// The number of the notification that this iterator has taken; another iterator may have put it down since.
  @exclusivity(unchecked)
  private var number: Int?
  /// The number of the task that has the event in hand.
  @exclusivity(unchecked)
  private var task: UInt64?
  /// The handler in which the loop's task took the event; `nil` if in none.
  @exclusivity(unchecked)
  private var owner: HandlerContext?

  init(_ loop: StreamLoop, of node: SubscriptionNode, keeping source: AnyObject) {
    (self.loop, self.node, self.source) = (loop, node, source)
    worker = Worker(for: node.topic.hubNumber, caller: nil)
  }

  deinit { end() }

  /// Marks the notification in hand as handled; by default, in a cancelled task as missed, because it may be unhandled.
  func end(as fate: Notification.Fate = Task.isCancelled ? .expired : .handled) {
    worker.end()
    if let number { node.putDown(number, of: loop, as: fate) }
    number = nil
    leaveTask()
  }

  /// Takes the next event.
  ///
  /// - Parameters:
  ///   - deadline: when to give up; if it is past, the loop does not wait.
  ///   - end: the number of the first notification that the loop does not take.
  /// - Returns: the event; `nil` at the deadline, on cancellation, and at `end` or the stream's end.
  nonisolated(nonsending) func next(
    until deadline: Deadline?, before end: Int = .max
  ) async -> (any Sendable)? {
    var mayWait = deadline?.isPast != true
    worker.end()
    while true {
      switch node.pull(loop, before: end, waiting: mayWait) {
      case .take(let content, let taken):
        begin()
        number = taken
        if let event = await take(content, taken) { return event }
      case .wait(let waiter, let former):
        // Another loop waits already: resumed, it finds this loop's waiter instead of its own, and stops the program,
        // unless its task is cancelled or its deadline has come.
        former?.resume(false)
        let isWoken = await waiter.wait(until: deadline)
        let isAnotherThere = node.remove(waiter, of: loop)
        if Task.isCancelled { return nil }
        // At the deadline, looks once more without waiting.
        mayWait = isWoken
        // Another loop has taken this one's place, which is allowed only if this one's deadline has resumed it.
        if isAnotherThere, isWoken || deadline?.hasCome != true { stop() }
      case .pause: await Task.yield()
      case .over: return nil
      }
    }
  }

  /// Runs a notification's handler in the loop's task, and takes the event that it brings; `nil` if none.
  private nonisolated(nonsending) func take(
    _ content: Notification.Content, _ number: Int
  ) async -> (any Sendable)? {
    let call: CallKind = content.receipt == nil ? .notify : .notifyAndWait
    var fate = Notification.Fate.failed
    do { fate = try await node.fate(of: content.handler(node.reference), in: call) } catch {
      node.report(.failed, in: call, error: error)
    }
    let (event, waiting) = loop.close()
    // Another loop may come while a handler runs only if this one's task is cancelled.
    if !waiting.isEmpty, !Task.isCancelled { stop() }
    for waiter in waiting { waiter.resume(true) }
    if fate != .handled { node.note(fate, of: number, in: loop) }
    return event
  }

  /// Stops the program: one of two loops would never know what the other has taken.
  private func stop() -> Never {
    fatalError(
      """
      EventStream: two loops wait for the next event of one stream, made at \(node.site). An event reaches one of them: make \
      a stream for each, or let one begin when the other one has ended.
      """)
  }

  /// Notes that the current task has an event in hand, so that a wait in this task does not wait for that event.
  ///
  /// The loop is noted once for each task; while any task has several loops, at each event, to be its task's latest.
  private func begin() {
    worker.begin()
    let current = HandlerContext.currentTask
    if task != current || owner?.isRunning == false {
      leaveTask()
      (task, owner) = (current, HandlerContext.hostHandler)
    } else if HandlerContext.maySwitchLoops {
      note(isInHand: false)
    } else {
      return
    }
    note(isInHand: true)
  }

  private func leaveTask() {
    note(isInHand: false)
    (task, owner) = (nil, nil)
  }

  private func note(isInHand: Bool) {
    guard let task else { return }
    let context = HandlerContext(worker: worker, call: 0, node: node)
    HandlerContext.note(context, in: task, of: owner, isInHand: isInHand)
  }
}

/// The subscriber of a stream.
///
/// `@unchecked Sendable`: the subscription is written once, before the stream is shared.
final class StreamSource<Event: Sendable>: EventReceiver, NamedSubscriber, @unchecked Sendable {
  static var name: String { "a stream" }

  let loop = StreamLoop()
  fileprivate(set) var subscription: DelegateHub.Subscription!

  deinit { subscription?.cancel() }

  func receive(_ event: Event) throws {
    // Taken only while a loop takes a notification: no loop would look for any other event.
    guard loop.add(event) else {
      throw DelegateHub.ReplyError(
        description: """
          EventStream: a stream takes only what is posted, one event at a time; send each by its own `post`, `notify` or \
          `notifyAndWait`
          """)
    }
  }
}
