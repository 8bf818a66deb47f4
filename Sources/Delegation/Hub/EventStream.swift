/// The events of one subscription, for a loop that takes them itself.
///
/// ``DelegateRegistry/stream(id:priority:mailbox:fileID:line:)`` makes it.
///
/// What is posted waits in the subscription's mailbox, and nowhere else, until a loop takes it. An event is *handled*
/// when the loop asks for the next one, or when its iterator is released, as it is after a `break`. Until then
/// ``DelegateHub/drain(within:)`` and `notifyAndWait` wait for it, so a slow loop
/// slows such a poster down; statistics count it, and leftovers name the line that made the stream. A stream that is
/// kept while nobody loops over it holds a `drain` without a deadline, as a handler does that hangs.
///
/// **End.** The stream ends with its subscription: when that is cancelled or finished, or when the hub is released,
/// after what was posted before. A loop does not wait for the event that another one, or itself, has in hand: with
/// nothing left to take it ends. The subscription ends as any other, and when a loop finds its task cancelled, and when
/// the stream and its iterators are released.
///
/// **Order.** The order of posting. Of several loops over one stream each event reaches one, once; a loop may go on
/// where another one has left off. A notification that brings several events is handled when all of them are.
///
/// **Re-entrancy.** What the loop's body waits for does not include the events that its task has in hand, as in a
/// handler. It does in a task that the body starts: there `drain` waits for the body. So it does in a loop of a `Task` that
/// a voter has left behind.
///
/// **Questions.** A stream takes only what is posted. `forEach` and questions pass it over, as they do a subscriber
/// that does not conform; ``DelegateHub/Statistics/Counts/passedOver`` counts that. To call
/// `receive` on it otherwise is an error, which is thrown unless a loop takes an event at that moment.
///
/// ```swift
/// let stream = events.registry.stream()
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

  /// The stream's subscription, which ends with it.
  public var subscription: DelegateHub.Subscription { source.subscription }

  /// Makes what a loop takes the events by.
  ///
  /// - Returns: the iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(turn: turn) }

  private var turn: StreamTurn { StreamTurn(source.loop, of: subscription.node, keeping: source) }

  /// Takes the events one at a time.
  public struct Iterator: AsyncIteratorProtocol {
    let turn: StreamTurn

    /// The next event; the one before is handled.
    ///
    /// - Returns: `nil` once the subscription has ended; if the task is cancelled, that ends it.
    /// - Complexity: O(1), and O(*n*) in the *n* events that a limit has dropped, apart from the waiting.
    public mutating func next() async -> Event? { await next(isolation: nil) }

    /// The next event; the one before is handled.
    ///
    /// - Parameter actor: where the caller is.
    /// - Returns: `nil` once the subscription has ended; if the task is cancelled, that ends it.
    /// - Complexity: O(1), and O(*n*) in the *n* events that a limit has dropped, apart from the waiting.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Event? {
      if !Task.isCancelled, let event = await turn.next(until: nil) { return (event as! Event) }
      turn.end(cancelling: Task.isCancelled)
      return nil
    }
  }

  /// The next event for which a condition holds.
  ///
  /// When it returns, that event and those before it are handled; what comes after it waits. To post something and
  /// await the answer, make the stream first:
  ///
  /// ```swift
  /// let replies = events.registry.stream()
  /// events.post(.question(number))
  /// let reply = await replies.next(within: .seconds(2)) { $0.answers(number) }
  /// ```
  ///
  /// **Isolation.** The condition runs where the caller is.
  ///
  /// **Cancellation.** If the caller's task is cancelled it returns `nil`; the subscription goes on.
  ///
  /// - Parameters:
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for as long as it takes. With zero or less it does
  ///     not wait, and looks at what waits. A poster's closure that suspends, and interceptors, are awaited beyond that.
  ///   - condition: whether it is the one; by default any event is.
  /// - Returns: the event; `nil` at the deadline, on cancellation, and at the end of the stream.
  /// - Complexity: O(*n*) in the *n* events that it looks at or that a limit drops, apart from the waiting.
  public nonisolated(nonsending) func next(
    within duration: Duration? = nil, where condition: (Event) -> Bool = { _ in true }
  ) async -> Event? {
    let deadline = duration.flatMap { subscription.node.topic.deadlines.deadline(after: $0) }
    // A condition may post, and others may post faster than it looks.
    let end = deadline?.isPast == true ? subscription.node.published : .max
    let turn = turn
    defer { turn.end() }
    while !Task.isCancelled, let next = await turn.next(until: deadline, before: end) {
      let event = next as! Event
      if condition(event) { return event }
      if let deadline, !deadline.isPast, deadline.hasCome { return nil }
    }
    return nil
  }
}

extension DelegateRegistry {
  /// Subscribes, and gives the events that are posted from now on as a stream.
  ///
  /// It subscribes at once: what is posted after this call is in the stream, even if nobody loops over it yet. So make it
  /// before the task that loops: one that is made in the task misses what is posted until the task has begun. See
  /// ``EventStream`` for how events wait, when they are handled, and when the stream ends.
  ///
  /// **Order.** The order of posting.
  ///
  /// **Isolation.** Works from any thread and from every handler.
  ///
  /// ```swift
  /// let stream = events.registry.stream(mailbox: .dropOldest(limit: 100))
  /// let task = Task { for await event in stream { await show(event) } }
  /// ```
  ///
  /// - Parameters:
  ///   - id: identifies the stream: another one with an equal id takes its place and what waits for it, without a gap and
  ///     without a repetition, while the older one is subscribed: a loop whose task is cancelled ends it. What the older
  ///     stream's loop has in hand stays with that; if one notification brings several events, those that it has not taken
  ///     are lost.
  ///   - priority: higher is served first; 0 by default.
  ///   - mailbox: what to do when events come faster than the loop takes them; by default all of them wait. What a limit
  ///     drops is counted.
  ///   - fileID: the source file that makes the stream, for diagnostics.
  ///   - line: the line that makes it.
  /// - Returns: the stream.
  /// - Complexity: O(1), amortised.
  public func stream<Event: Sendable>(
    id: (any Hashable & Sendable)? = nil, priority: Int? = nil,
    mailbox: DelegateHub.MailboxPolicy? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> EventStream<Event> where P == any EventReceiver<Event> {
    let source = StreamSource<Event>()
    let options = SubscriptionOptions(
      of: source, id: id.map { Identity($0) }, policy: mailbox, loop: source.loop)
    source.open(
      add(source, options, priority: priority, at: (fileID, line)))
    return EventStream(source: source)
  }

  /// The next event that is posted from now on and for which a condition holds.
  ///
  /// It sees what is posted after it has begun, and what the owner of the events replays (`Events(replaying:)`): so with
  /// a replay it waits until something *is* so, not until it becomes so. To post and await the answer, make a stream
  /// first, and ask that: ``EventStream/next(within:where:)``.
  ///
  /// ```swift
  /// let ready = await registry.next(within: .seconds(2)) { $0 == .ready }
  /// ```
  ///
  /// **Isolation.** The condition runs where the caller is.
  ///
  /// **Cancellation.** If the caller's task is cancelled it returns `nil`.
  ///
  /// - Parameters:
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for as long as it takes. With zero or less it does
  ///     not wait.
  ///   - fileID: the source file that waits, for diagnostics.
  ///   - line: the line that waits.
  ///   - condition: whether it is the one; by default any event is.
  /// - Returns: the event; `nil` at the deadline, on cancellation, and when the hub is released.
  /// - Complexity: O(*n*) in the *n* events that it looks at, apart from the waiting.
  public nonisolated(nonsending) func next<Event: Sendable>(
    within duration: Duration? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    where condition: (Event) -> Bool = { _ in true }
  ) async -> Event? where P == any EventReceiver<Event> {
    await stream(fileID: fileID, line: line).next(within: duration, where: condition)
  }
}

/// One iterator, with what it has in hand; it has handled that when it is released.
///
/// It keeps nothing of the hub. It does not know the type of the events: code that is not specialised is long and slow.
final class StreamTurn {
  private let loop: StreamLoop
  private let node: SubscriptionNode
  /// The subscriber, with which the subscription ends.
  private let source: AnyObject
  private let worker: Worker
  private var hand: StreamLoop.Hand?
  /// The task in whose body the event is, and the handler that owned it when that began.
  private var task: UInt64?
  private var owner: HandlerContext?

  init(_ loop: StreamLoop, of node: SubscriptionNode, keeping source: AnyObject) {
    self.loop = loop
    self.node = node
    self.source = source
    worker = Worker(for: node.topic.hubNumber, caller: nil)
  }

  deinit { end() }

  /// Handles what is in hand.
  ///
  /// - Parameter isCancelled: whether the subscription ends.
  func end(cancelling isCancelled: Bool = false) {
    if isCancelled { node.terminate(as: .cancelled) }
    worker.end()
    if hand != nil { node.putDown(&hand) }
    leaveTask()
  }

  /// Takes the next event.
  ///
  /// - Parameters:
  ///   - deadline: when it gives up; if that is past it does not wait.
  ///   - end: the number of the first notification that it does not take.
  /// - Returns: the event; `nil` at the deadline, on cancellation, and at the end.
  nonisolated(nonsending) func next(
    until deadline: Deadline?, before end: Int = .max
  ) async -> (any Sendable)? {
    var mayWait = deadline?.isPast != true
    worker.end()
    while true {
      switch node.pull(loop, &hand, before: end) {
      case .take(let content, let number):
        begin()
        let taken = (number: number, receipt: content.receipt, fate: await fate(of: content))
        hand = taken
        if let event = node.endTaking(taken, of: loop) { return event }
      case .goOn(let left, let event, let waiter):
        waiter?.resume(true)
        hand = left
        begin()
        return event
      case .wait(let waiter):
        if mayWait {
          let cancelAlarm = deadline?.schedule { waiter.resume(false) }
          let isWoken = await withTaskCancellationHandler {
            await waiter.wait()
          } onCancel: {
            waiter.resume(false)
          }
          cancelAlarm?()
          if isWoken { continue }
        }
        node.remove(waiter, of: loop)
        // At the deadline it looks once more: the loop that was resumed for what waits may stand still.
        if !mayWait || Task.isCancelled { return nil }
        mayWait = false
      case .over: return nil
      }
    }
  }

  /// Runs a notification's handler, which brings the event, in the loop's task.
  private nonisolated(nonsending) func fate(
    of content: Notification.Content
  ) async -> Notification.Fate {
    let call: CallKind = content.receipt == nil ? .notify : .notifyAndWait
    do {
      return try await node.fate(of: content.handler(node.reference), in: call)
    } catch {
      node.report(.failed, in: call, error: error)
      return .failed
    }
  }

  /// Notes that the current task has an event in hand: what it waits for is not to be that.
  private func begin() {
    _ = worker.begin()
    let current = HandlerContext.currentTask
    if task != current || owner?.isRunning == false {
      leaveTask()
      (task, owner) = (current, HandlerContext.owner)
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
  private var opened: DelegateHub.Subscription?

  var subscription: DelegateHub.Subscription { opened! }

  func open(_ subscription: DelegateHub.Subscription) { opened = subscription }

  deinit { opened?.cancel() }

  func receive(_ event: Event) throws {
    // Only while a loop takes what was posted: nobody would look for what comes otherwise.
    guard subscription.node.isAttended else {
      throw DelegateHub.ReplyError(
        description: """
          EventStream: a stream takes only what is posted; send the event by `post`, `notify` or `notifyAndWait`
          """)
    }
    subscription.node.add(event, to: loop)
  }
}
