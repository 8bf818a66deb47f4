/// The events of one subscription, for a loop that takes them itself.
///
/// ``Subscribable/stream(id:priority:mailbox:fileID:line:)`` makes it.
///
/// What is posted waits in the subscription's mailbox, and nowhere else, until a loop takes it. An event is *handled*
/// when the loop asks for the next one, or when its iterator is released, as it is after a `break`. Until then
/// ``DelegateHub/drain(within:)`` and `notifyAndWait` wait for it, so a slow loop
/// slows such a poster down; statistics count it, and leftovers name the line that made the stream. A stream that is
/// kept while nobody loops over it holds a `drain` without a deadline, as a handler does that hangs.
///
/// **End.** The stream ends with its subscription: when that is cancelled, or, after what was posted before, when it or its
/// protocol is finished, or the hub is released. The subscription ends as any other, and when a loop finds its task
/// cancelled, and when the stream and its iterators are released.
///
/// **Order.** The order of posting. A stream has one loop at a time, which may go on where another one has left off: with
/// that, what the other one has in hand is handled. Two that wait for the next event at once stop the program with a
/// message that names the line, unless the task of the first one is cancelled. A notification brings a stream one event:
/// what it receives further is an error, which is thrown.
///
/// **Cancellation.** What a loop has in hand when it asks for the next one, or its iterator is released, while its task is
/// cancelled counts as missed: it may not have been handled. If another loop goes on first, that counts it as handled.
///
/// **Errors.** What the loop's body throws, and catches, nobody hears of: the event counts as handled. The body is no handler
/// of the hub's: interceptors, `slowAfter` and `propagating` end when the event is handed over.
///
/// **Re-entrancy.** What the loop's body waits for does not include the events that its task has in hand, as in a
/// handler. It does in a task that the body starts: there `drain` waits for the body. So it does in a loop of a `Task` that
/// a voter has left behind: use a `Task.detached` there.
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
      if let event = await turn.next(until: nil) { return (event as! Event) }
      if Task.isCancelled { turn.node.terminate(as: .cancelled) }
      turn.end()
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
  /// **Re-entrancy.** The closure of a poster must not await it for a stream that it delivers to: it would wait for itself.
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
    defer { turn.end(as: .handled) }
    while let next = await turn.next(until: deadline, before: end) {
      let event = next as! Event
      if condition(event) { return event }
      if let deadline, !deadline.isPast, deadline.hasCome { return nil }
    }
    return nil
  }
}

extension Subscribable {
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
  ///     stream's loop has in hand stays with that, and the newer one gets its first event when it is put down.
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
      registry.add(source, options, priority: priority, at: (fileID, line)))
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
  fileprivate let node: SubscriptionNode
  /// The subscriber, with which the subscription ends.
  private let source: AnyObject
  private let worker: Worker
  /// The number of what it has in hand, unless another iterator has gone on.
  @exclusivity(unchecked)
  private var number: Int?
  /// The task in whose body the event is, and the handler that owned it when that began.
  @exclusivity(unchecked)
  private var task: UInt64?
  @exclusivity(unchecked)
  private var owner: HandlerContext?

  init(_ loop: StreamLoop, of node: SubscriptionNode, keeping source: AnyObject) {
    self.loop = loop
    self.node = node
    self.source = source
    worker = Worker(for: node.topic.hubNumber, caller: nil)
  }

  deinit { end() }

  /// Puts down what is in hand; a task that is cancelled may not have done what it was to do.
  func end(as fate: Notification.Fate = Task.isCancelled ? .expired : .handled) {
    worker.end()
    if let number { node.putDown(number, of: loop, as: fate) }
    number = nil
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
      switch node.pull(loop, before: end, waiting: mayWait) {
      case .take(let content, let taken):
        begin()
        number = taken
        if let event = await take(content, taken) { return event }
      case .wait(let waiter, let former):
        former?.resume(false)
        let cancelAlarm = deadline?.schedule { waiter.resume(false) }
        let isWoken = await withTaskCancellationHandler {
          await waiter.wait()
        } onCancel: {
          waiter.resume(false)
        }
        cancelAlarm?()
        let isAnotherThere = node.remove(waiter, of: loop)
        if Task.isCancelled { return nil }
        mayWait = isWoken
        if isAnotherThere, isWoken || deadline?.hasCome != true { stop() }
      case .pause: await Task.yield()
      case .over: return nil
      }
    }
  }

  /// Runs a notification's handler in the loop's task, and takes the event that it brings.
  private nonisolated(nonsending) func take(
    _ content: Notification.Content, _ number: Int
  ) async -> (any Sendable)? {
    let call: CallKind = content.receipt == nil ? .notify : .notifyAndWait
    var fate = Notification.Fate.failed
    do { fate = try await node.fate(of: content.handler(node.reference), in: call) } catch {
      node.report(.failed, in: call, error: error)
    }
    let (event, late) = loop.close()
    if !late.isEmpty, !Task.isCancelled { stop() }
    for waiter in late { waiter.resume(true) }
    if fate != .handled { node.note(fate, of: number, in: loop) }
    return event
  }

  /// Stops the program: one of two loops would never know what the other one has taken.
  private func stop() -> Never {
    fatalError(
      """
      EventStream: two loops wait for the next event of one stream, made at \(node.site). An event reaches one of them: make \
      a stream for each, or let one begin when the other one has ended.
      """)
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
    guard loop.add(event) else {
      throw DelegateHub.ReplyError(
        description: """
          EventStream: a stream takes only what is posted, one event at a time; send each by its own `post`, `notify` or \
          `notifyAndWait`
          """)
    }
  }
}
