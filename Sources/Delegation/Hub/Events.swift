/// Events of one type, with closures, streams and objects as subscribers, where no protocol is needed.
///
/// `Events` are ``Delegates`` like any other, with all of their calls.
///
/// ```swift
/// let events = Events<RoomEvent>()
/// let token = events.observe { print($0) }
/// events.post(.joined("Ann"))
/// token.cancel()
/// ```
public typealias Events<Event: Sendable> = Delegates<any EventReceiver<Event>>

extension Delegates {
  /// Posts an event to all observers, without waiting for any.
  ///
  /// As `notify`, also in order, isolation and errors.
  ///
  /// - Parameter event: the event.
  /// - Complexity: O(1) in the number of observers.
  @inlinable
  public func post<Event: Sendable>(_ event: Event) where P == any EventReceiver<Event> {
    notify { try await $0.receive(event) }
  }
}

extension Subscribable {
  /// Calls a closure with each event, until the subscription is cancelled.
  ///
  /// When it returns, every event that is posted later reaches the closure. The hub keeps the closure. A closure of an
  /// actor (`@MainActor`) runs there. If the subscription ends before the actor is free, the closure is not called,
  /// unless the subscription or the hub has an executor: then it may be.
  ///
  /// **Order.** One event at a time, in the order of posting.
  ///
  /// **Isolation.** Works from any thread and from every handler. The closure runs as handlers do.
  ///
  /// **Errors.** What the closure throws is reported to ``DelegateHub/Configuration/onIncident``, with the line that
  /// observes.
  ///
  /// - Parameters:
  ///   - priority: higher is served first; 0 by default.
  ///   - id: identifies the observer: a later observer with an equal id replaces it.
  ///   - mailbox: what to do when events come faster than the closure returns; by default all of them wait.
  ///   - executor: where the closure runs; by default that is the hub's choice.
  ///   - fileID: the source file that observes, for diagnostics.
  ///   - line: the line that observes.
  ///   - body: what to do with each event.
  /// - Returns: the subscription, which ends if it is cancelled, not if it is released.
  /// - Complexity: as ``DelegateHub/subscribe(_:to:priority:id:hold:mailbox:on:fileID:line:)``.
  @discardableResult
  public func observe<Event: Sendable>(
    priority: Int? = nil, id: (any Hashable & Sendable)? = nil,
    mailbox: DelegateHub.MailboxPolicy? = nil, on executor: (any TaskExecutor)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @isolated(any) @Sendable (Event) async throws -> Void
  ) -> DelegateHub.Subscription where P == any EventReceiver<Event> {
    let observer = EventObserver(body)
    return observer.node.open(
      subscribe(
        observer, priority: priority, id: id, hold: .strongly, mailbox: mailbox, on: executor,
        fileID: fileID, line: line))
  }

  /// Calls a closure with an object and each event, until the object dies or is unsubscribed, or the subscription is
  /// cancelled.
  ///
  /// As ``observe(priority:id:mailbox:on:fileID:line:_:)``, but the hub does not keep the object alive. So the closure
  /// must not capture the object, which it is given. Several closures can observe with the same object.
  ///
  /// ```swift
  /// events.observe(with: self) { @MainActor view, event in view.show(event) }
  /// ```
  ///
  /// - Parameters:
  ///   - owner: the object.
  ///   - priority: higher is served first.
  ///   - id: identifies the observer.
  ///   - mailbox: what to do when events come too fast.
  ///   - executor: where the closure runs.
  ///   - fileID: the source file that observes, for diagnostics.
  ///   - line: the line that observes.
  ///   - body: what to do with the object and each event.
  /// - Returns: the subscription, which need not be kept.
  /// - Complexity: as ``DelegateHub/subscribe(_:to:priority:id:hold:mailbox:on:fileID:line:)``.
  @discardableResult
  public func observe<Owner: AnyObject & Sendable, Event: Sendable>(
    with owner: Owner, priority: Int? = nil, id: (any Hashable & Sendable)? = nil,
    mailbox: DelegateHub.MailboxPolicy? = nil, on executor: (any TaskExecutor)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @isolated(any) @Sendable (Owner, Event) async throws -> Void
  ) -> DelegateHub.Subscription where P == any EventReceiver<Event> {
    let observer = OwnedObserver(owner, body)
    return observer.node.open(
      subscribe(
        observer, priority: priority, id: id, hold: .strongly, mailbox: mailbox, on: executor,
        fileID: fileID, line: line))
  }

  /// Calls a closure with one event, and never with another.
  ///
  /// The event is the first that is posted from now on, or the oldest that is replayed (`Events(replaying:)`). The
  /// subscription ends when the closure has returned or thrown; cancel the subscription to end it before. Events that
  /// are posted before its end are counted as cancelled. If an interceptor keeps this event from the closure, the
  /// closure gets none.
  ///
  /// **Isolation** and **Errors.** As with ``observe(priority:id:mailbox:on:fileID:line:_:)``.
  ///
  /// ```swift
  /// connection.events.once { print("the first one: \($0)") }
  /// ```
  ///
  /// - Parameters:
  ///   - priority: higher is served first; 0 by default.
  ///   - executor: where the closure runs; by default that is the hub's choice.
  ///   - fileID: the source file that observes, for diagnostics.
  ///   - line: the line that observes.
  ///   - body: what to do with the event.
  /// - Returns: the subscription, which need not be kept.
  /// - Complexity: O(1), amortised.
  @discardableResult
  public func once<Event: Sendable>(
    priority: Int? = nil, on executor: (any TaskExecutor)? = nil, fileID: StaticString = #fileID,
    line: UInt = #line, _ body: @escaping @isolated(any) @Sendable (Event) async throws -> Void
  ) -> DelegateHub.Subscription where P == any EventReceiver<Event> {
    observe(
      priority: priority, mailbox: DelegateHub.MailboxPolicy(limit: nil, most: 1), on: executor,
      fileID: fileID, line: line, body)
  }
}

/// The subscriber that calls a closure with each event.
final class EventObserver<Event: Sendable>: EventReceiver, NamedSubscriber {
  static var name: String { "a closure" }

  let node = SetOnce<SubscriptionNode>()
  private let body: @isolated(any) @Sendable (Event) async throws -> Void

  init(_ body: @escaping @isolated(any) @Sendable (Event) async throws -> Void) { self.body = body }

  func receive(_ event: Event) async throws {
    guard let actor = body.isolation else { return try await body(event) }
    try await receive(event, on: actor)
  }

  private func receive(_ event: Event, on actor: isolated any Actor) async throws {
    guard node.mayCall else { return node.noteUnasked() }
    try await body(event)
  }
}

/// The subscriber that calls a closure with an object, its owner, and each event.
///
/// `@unchecked Sendable` is inherited: all properties are constants.
final class OwnedObserver<Owner: AnyObject & Sendable, Event: Sendable>: BoundSubscriber,
  EventReceiver, NamedSubscriber, @unchecked Sendable
{
  static var name: String { "a closure" }

  let node = SetOnce<SubscriptionNode>()
  private let body: @isolated(any) @Sendable (Owner, Event) async throws -> Void

  init(
    _ owner: Owner, _ body: @escaping @isolated(any) @Sendable (Owner, Event) async throws -> Void
  ) {
    self.body = body
    super.init(to: owner)
  }

  func receive(_ event: Event) async throws {
    if let actor = body.isolation { return try await receive(event, on: actor) }
    guard let owner = owner as? Owner else { return node.noteUnasked() }
    try await body(owner, event)
  }

  private func receive(_ event: Event, on actor: isolated any Actor) async throws {
    guard node.mayCall, let owner = owner as? Owner else { return node.noteUnasked() }
    try await body(owner, event)
  }
}

/// An observer's own subscription. Once on its closure's actor, the observer checks whether the subscription has ended.
///
/// The observer retains its subscription, and the subscription the observer until the subscription ends.
extension SetOnce where Object == SubscriptionNode {
  /// Whether the closure may be called: not if the subscription has ended, unless it was replaced.
  fileprivate var mayCall: Bool { load()?.mayHandle ?? true }

  /// Notes that the closure was not called; does nothing if another subscriber's handler called the observer directly.
  fileprivate func noteUnasked() {
    guard let node = load(), let handler = HandlerContext.bound, handler.isHandler(of: node),
      handler.isRunning
    else { return }
    HandlerContext.note(.unasked)
  }

  fileprivate func open(_ subscription: DelegateHub.Subscription) -> DelegateHub.Subscription {
    _ = load(orSetting: subscription.node)
    return subscription
  }
}
