/// The events of one subscription, for a loop that takes them itself.
public struct EventStream<Event: Sendable>: AsyncSequence, Sendable {
  public typealias Element = Event
  public typealias Failure = Never

  let source: StreamSource<Event>

  /// The stream's subscription, which ends with it.
  public var subscription: DelegateHub.Subscription { source.subscription }

  public func makeAsyncIterator() -> Iterator { Iterator(turn: StreamTurn(source)) }

  /// Takes the events one at a time.
  public struct Iterator: AsyncIteratorProtocol {
    let turn: StreamTurn<Event>

    public mutating func next() async -> Event? { await next(isolation: nil) }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> Event? {
      if !Task.isCancelled, let event = await turn.next(until: nil) { return event }
      if Task.isCancelled { turn.source.subscription.cancel() }
      turn.end()
      return nil
    }
  }

  /// The next event for which a condition holds.
  public nonisolated(nonsending) func next(
    within duration: Duration? = nil, where condition: (Event) -> Bool = { _ in true }
  ) async -> Event? {
    let deadlines = subscription.node.topic.owner?.deadlines
    let deadline = duration.flatMap { deadlines?.deadline(after: $0) }
    let turn = StreamTurn(source)
    defer { turn.end() }
    while !Task.isCancelled, let event = await turn.next(until: deadline) {
      if condition(event) { return event }
    }
    return nil
  }
}

extension DelegateRegistry {
  /// Subscribes, and gives the events that are posted from now on as a stream.
  public func stream<Event: Sendable>(
    id: (any Hashable & Sendable)? = nil, priority: Int? = nil,
    mailbox: DelegateHub.MailboxPolicy? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> EventStream<Event> where P == any EventReceiver<Event> {
    let source = StreamSource<Event>()
    let options = SubscriptionOptions(
      of: source, id: id.map(Identity.init), policy: mailbox, loop: source.loop)
    source.open(add(source, options, priority: priority, at: SubscribeSite.Line(file: fileID, line: line)))
    return EventStream(source: source)
  }

  /// The next event that is posted from now on and for which a condition holds.
  public nonisolated(nonsending) func next<Event: Sendable>(
    within duration: Duration? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    where condition: (Event) -> Bool = { _ in true }
  ) async -> Event? where P == any EventReceiver<Event> {
    await stream(fileID: fileID, line: line).next(within: duration, where: condition)
  }
}

/// One iterator: whoever drops it has handled what it has taken.
final class StreamTurn<Event: Sendable> {
  let source: StreamSource<Event>
  let node: SubscriptionNode
  /// What is shared by the hub's deliveries, of which this is one; the hub does not keep it.
  private let owner: (any TopicOwner)?
  private let worker: Worker
  private var number: Int?
  private var task: Int?
  private var outer: HandlerContext?

  init(_ source: StreamSource<Event>) {
    self.source = source
    node = source.subscription.node
    owner = node.topic.owner
    worker = Worker(for: owner ?? node.topic, caller: Caller.present, isAttending: true)
  }

  deinit { end() }

  func end() {
    guard let number = number.take() else { return }
    worker.end()
    node.release(number, of: source.loop)
    if let task = task.take() { HandlerContext.noteLoop(outer.take(), in: task) }
  }

  /// Notes that the current task has an event in hand: what it waits for is not to be that.
  private func begin(_ number: Int) {
    self.number = number
    let context = HandlerContext(worker: worker, call: worker.begin(), node: node)
    let current = withUnsafeCurrentTask { $0?.hashValue }
    if task == current { return }
    if let task { HandlerContext.noteLoop(outer.take(), in: task) }
    if let current { outer = HandlerContext.noteLoop(context, in: current) }
    task = current
  }

  nonisolated(nonsending) func next(until deadline: Deadline?) async -> Event? {
    var event: Event?
    worker.end()
    while true {
      switch node.pull(source.loop, unless: { source.take(&event) }) {
      case .take(let content, let number):
        begin(number)
        let call: CallKind = content.receipt == nil ? .notify : .notifyAndWait
        var fate = Notification.Fate.failed
        do {
          fate = try await node.fate(of: content.handler(node.reference), in: call)
        } catch {
          node.report(.failed, in: call, error: error)
        }
        let isTaken = source.take(&event)
        node.endTaking(source.loop, as: fate) { source.hasReceived }
        if isTaken { return event }
      case .wait(let waiter):
        let cancelAlarm = deadline?.schedule { waiter.resume(false) }
        let isWoken = await withTaskCancellationHandler {
          await waiter.wait()
        } onCancel: {
          waiter.resume(false)
        }
        cancelAlarm?()
        if isWoken { continue }
        node.remove(waiter, of: source.loop)
        return nil
      case .received: return event
      case .over: return nil
      }
    }
  }
}

/// The subscriber of a stream: keeps what a notification brings until its loop takes it.
///
/// `@unchecked Sendable`: the variables are used under the lock. Nothing generic is under it: in code that is not
/// specialised the runtime would look up its type each time.
final class StreamSource<Event: Sendable>: EventReceiver, @unchecked Sendable {
  let loop = StreamLoop()
  /// Whether there are others than the first.
  private let lock = Lock(false)
  private var first: (@Sendable () -> Event)?
  private var others: [@Sendable () -> Event] = []
  private var opened: DelegateHub.Subscription?

  var subscription: DelegateHub.Subscription { lock.withLock { _ in opened! } }

  func open(_ subscription: DelegateHub.Subscription) { lock.withLock { _ in opened = subscription } }

  deinit { opened?.cancel() }

  var hasReceived: Bool { lock.withLock { _ in first != nil } }

  /// - Returns: whether there was an event.
  func take(_ event: inout Event?) -> Bool {
    var taken: (@Sendable () -> Event)?
    lock.withLock { hasOthers in
      taken = first
      first = nil
      if hasOthers {
        first = others.removeFirst()
        hasOthers = !others.isEmpty
      }
    }
    guard let taken else { return false }
    event = taken()
    return true
  }

  func receive(_ event: Event) {
    let opened = lock.withLock { hasOthers in
      if first == nil {
        first = { event }
      } else {
        others.append { event }
        hasOthers = true
      }
      return self.opened
    }
    // A question may have brought it, which no loop expects.
    if !loop.isTaking { opened?.node.wake(loop) }
  }
}
