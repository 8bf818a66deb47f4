/// The calls of a hub for one protocol, without the protocol's name at each; for the hub's owner.
///
/// ```swift
/// actor Worker {
///   private let delegates = Delegates<any WorkerDelegate>()
///   nonisolated var observers: DelegateRegistry<any WorkerDelegate> { delegates.registry }
///
///   func perform(_ subtask: Subtask) async {
///     if await delegates.vote({ await $0.worker(self, shouldPerform: subtask) }) {
///       subtask.run()
///       delegates.notify { $0.worker(self, didPerform: subtask) }
///     }
///   }
/// }
/// ```
///
/// Each call is the hub's call of the same name, and costs the same. What the hub's call says about
/// order, isolation, re-entrancy, cancellation and errors holds here too. All copies share the hub.
public struct Delegates<P>: Sendable {
  /// The hub that the subscribers are subscribed to.
  public let hub: DelegateHub

  /// The subscribers that the calls are for.
  @usableFromInline
  let recipients: Recipients<P>

  @inlinable
  init(hub: DelegateHub, recipients: Recipients<P>) {
    self.hub = hub
    self.recipients = recipients
  }

  /// The subscribers that also conform to a further protocol: optional methods.
  ///
  /// They are still subscribers of the first protocol. Notifications that are posted here use its
  /// order and its mailboxes, so optional ones never overtake others. A subscriber that does not
  /// conform passes over such a notification: it is not called, and it is counted as
  /// ``DelegateHub/Statistics/Counts/passedOver``. A question is not put to it, and `absent:` is not applied to it:
  /// it counts as one that is not there.
  ///
  /// In a mailbox with a limit, what is passed over takes no place and pushes nothing out. Without a limit it is
  /// passed over in its turn, on the subscriber's own executor if it has one:
  /// ``notifyAndWait(within:_:)-459hr`` waits for both.
  ///
  /// ```swift
  /// let progress = delegates.conforming(to: WorkerProgressDelegate.self)
  /// progress.notify { $0.worker(worker, didReach: 0.5) }
  /// delegates.notify { $0.worker(worker, didPerform: Subtask()) }
  /// ```
  ///
  /// Each call finds out anew whether a subscriber conforms, by a cast. The further
  /// protocol need not refine the first one. Call `conforming(to:)` again for several further
  /// protocols.
  ///
  /// - Parameter protocol: the further protocol.
  /// - Returns: the calls for them. Its registry subscribes to the first protocol all the same.
  /// - Complexity: O(1).
  public func conforming<Narrower: Sendable>(to protocol: Narrower.Type) -> Delegates<Narrower> {
    Delegates<Narrower>(hub: hub, recipients: recipients.conforming(to: `protocol`))
  }

  /// As ``DelegateHub/hasSubscribers(of:)``, the other way round; among those that conform, in O(*n*).
  public var isEmpty: Bool { !hub.hasSubscribers(among: recipients) }

  /// As ``DelegateHub/subscriberCount(of:)``, of those that conform.
  public var count: Int { hub.subscriberCount(among: recipients) }

  /// As ``DelegateHub/subscribers(of:)``, those that conform.
  public var subscribers: [P] { hub.subscribers(among: recipients) }

  /// Whether anybody is subscribed, for work that is to run only then: the present value, then each change.
  ///
  /// Each loop gets the present value first. Of changes that come faster than it asks it gets the latest, if that is
  /// another value than the last. The sequence ends when the hub is released, which it does not keep, and when its task
  /// is cancelled. A subscriber that has died counts until a call or the hub's search for dead ones has found it. All of
  /// the protocol that was subscribed to count, whether or not they conform to further ones.
  ///
  /// **Isolation.** Works from any thread and from every handler.
  ///
  /// ```swift
  /// for await isWanted in readings.demand {
  ///   if isWanted { sensor.start() } else { sensor.stop() }
  /// }
  /// ```
  ///
  /// - Complexity: O(1).
  public var demand: DelegateHub.Demand {
    DelegateHub.Demand(topic: hub.core.topics.find(recipients.base, owner: hub.core))
  }

  /// As ``DelegateHub/statistics(of:)``, of the protocol that was subscribed to.
  public var statistics: DelegateHub.Statistics.ProtocolStatistics? {
    hub.statistics(of: recipients.key)
  }
}

extension Delegates where P: Sendable {
  /// Makes the calls for one protocol of a hub, by default of a new one.
  ///
  /// With a replay, a new subscription first gets the latest notifications, those included that were posted while nobody
  /// was subscribed, in order and at most that many, and then what follows, without a gap: the present state for who
  /// comes late. Each counts as addressed to it; `notifyAndWait` does not wait for who subscribes after it has posted. The
  /// hub keeps their closures, with what these capture, until newer ones come or it is released. One that takes over an
  /// id gets what waits for that instead, and a mailbox with a limit gets no more than it may hold. Questions and
  /// `forEach` are not replayed.
  ///
  /// ```swift
  /// let states = Events<ConnectionState>(replaying: 1)
  /// states.post(.connected)
  /// states.registry.observe { print($0) }  // connected
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol, as `WorkerDelegate.self`.
  ///   - hub: the hub.
  ///   - count: how many of the latest notifications, from now on, a new subscription gets first; if several ask for a
  ///     replay of one protocol of a hub, the greatest count holds for all. 0 or less asks for none.
  public init(
    _ protocol: P.Type = P.self, of hub: DelegateHub = DelegateHub(), replaying count: Int = 0
  ) {
    self.init(hub: hub, recipients: Recipients(`protocol`))
    if count > 0 {
      hub.core.topics.find(`protocol`, owner: hub.core).update { index, _ in index.keep(count) }
    }
  }

  /// What to give away: it can subscribe and unsubscribe, and nothing else.
  public var registry: DelegateRegistry<P> {
    DelegateRegistry(hub: hub, base: recipients.base)
  }

  /// As ``DelegateHub/notify(_:_:)-7ude3``.
  @_alwaysEmitIntoClient
  public func notify(_ body: @escaping @isolated(any) @Sendable (P) throws -> Void) {
    hub.post(in: recipients) { .calling(isolated: body, in: $0) }
  }

  /// Calls a closure that awaits nothing on every subscriber, on its actor if it belongs to one, and waits until all
  /// have handled it.
  ///
  /// As the form that awaits.
  @_alwaysEmitIntoClient
  @discardableResult
  public func notifyAndWait(
    leaving window: Int = 0, within duration: Duration? = nil,
    _ body: @escaping @isolated(any) @Sendable (P) throws -> Void
  ) async -> DelegateHub.Outcome {
    await hub.postAndWait(in: recipients, leaving: window, within: duration) {
      .calling(isolated: body, in: $0)
    }
  }
}

extension Delegates {
  /// As ``DelegateHub/forEach(_:reversed:_:)-9lg5v``.
  @_alwaysEmitIntoClient
  public func forEach<E>(reversed isReversed: Bool = false, _ body: (P) throws(E) -> Void) throws(E)
  {
    try hub.callEach(recipients, reversed: isReversed, body)
  }

  /// As ``DelegateHub/forEach(_:reversed:_:)-319uy``.
  public nonisolated(nonsending) func forEach<E>(
    reversed isReversed: Bool = false, _ body: nonisolated(nonsending) (P) async throws(E) -> Void
  ) async throws(E) {
    try await hub.callEach(recipients, reversed: isReversed, body)
  }

  /// As ``DelegateHub/notify(_:_:)-63fbd``.
  @_alwaysEmitIntoClient
  public func notify(_ body: @escaping @Sendable (P) throws -> Void) {
    hub.post(in: recipients) { .calling(body, in: $0) }
  }

  /// As ``DelegateHub/notify(_:_:)-2z5cx``.
  @_alwaysEmitIntoClient
  public func notify(
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void
  ) {
    hub.post(in: recipients) { .awaiting(body, in: $0) }
  }

  /// Calls a handler on every subscriber, and waits until all have handled it, or so many calls later.
  ///
  /// It posts at once. Then it waits until everybody has *passed* the notification: handled it, thrown, dropped it, died,
  /// or been removed. If the handler of a removed one already runs, it waits for that handler. The ``DelegateHub/Outcome``
  /// says what became of it.
  ///
  /// **Window.** With `leaving:` it waits until everybody has passed the notification that was posted that many such calls
  /// before this one, by any poster. So of *p* posters at most `leaving + p` notifications wait anywhere: posters are
  /// slowed down to what the slowest subscriber can do, without waiting for each single one. With a window it does not
  /// wait for the handler of one whose subscription has ended, which may hang. The outcome is that of its own
  /// notification so far.
  ///
  /// **Order.** It comes after what was posted before and before what is posted later.
  ///
  /// **Isolation.** Handlers run on the hub's executor or the subscription's, on no actor; not in the caller's task. They
  /// have the priority that the caller had if that is higher than the default, unless a worker was under way already.
  ///
  /// **Re-entrancy.** Called from a handler of a notification, it does not wait for that subscriber, which handles
  /// nothing else until the handler returns, nor for subscribers whose handlers wait for it in turn. The outcome names
  /// them as left. The same holds in a `Task` that the handler has started, for the handler may await that.
  ///
  /// **Cancellation.** If the caller's task is cancelled it returns at once; the notification goes on, as it does after
  /// the deadline.
  ///
  /// **Errors.** A handler that throws is reported to ``DelegateHub/Configuration/onIncident``, and counts as failed.
  ///
  /// ```swift
  /// let outcome = await audits.notifyAndWait { try await $0.write(entry) }
  /// guard outcome.isHandled else { throw NotWritten(outcome) }
  /// ```
  ///
  /// - Parameters:
  ///   - window: how many such calls may be left behind; 0 or less for none.
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for as long as it takes. With zero or less it does
  ///     not wait.
  ///   - body: what to do with each subscriber.
  /// - Returns: what has become of the notification, and who had yet to pass the one that it waited for.
  /// - Complexity: O(1) in the number of subscribers, whatever the window, apart from the waiting; O(*n* log *n*) in the
  ///   protocol's *n* subscriptions if somebody is left.
  @_alwaysEmitIntoClient
  @discardableResult
  public func notifyAndWait(
    leaving window: Int = 0, within duration: Duration? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void
  ) async -> DelegateHub.Outcome {
    await hub.postAndWait(in: recipients, leaving: window, within: duration) {
      .awaiting(body, in: $0)
    }
  }

  /// Calls a closure that awaits nothing on every subscriber, and waits until all have handled it.
  ///
  /// As the form that awaits.
  @_alwaysEmitIntoClient
  @discardableResult
  public func notifyAndWait(
    leaving window: Int = 0, within duration: Duration? = nil,
    _ body: @escaping @Sendable (P) throws -> Void
  ) async -> DelegateHub.Outcome {
    await hub.postAndWait(in: recipients, leaving: window, within: duration) {
      .calling(body, in: $0)
    }
  }
}

extension Delegates {
  /// Ends all present subscriptions, each once its subscriber has handled what was posted before.
  ///
  /// As ``DelegateHub/Subscription/finish()`` on each: nothing that was posted is lost, and streams end after their last
  /// event.
  ///
  /// **Isolation.** Works from any thread, from synchronous code and from every handler.
  ///
  /// ```swift
  /// events.post(.closed)
  /// events.finish()
  /// ```
  ///
  /// - Complexity: O(*n* log *n*) in the protocol's *n* subscriptions.
  public func finish() { hub.core.topics.find(recipients.key)?.finishAll() }
}

extension DelegateHub {
  /// The calls of this hub for one protocol.
  ///
  /// ```swift
  /// if await hub[DoorDelegate.self].vote({ await $0.mayEnter(guest) }) { open() }
  /// ```
  ///
  /// **Isolation.** Works from any thread.
  ///
  /// - Parameter protocol: the protocol, as `WorkerDelegate.self`.
  /// - Complexity: O(1).
  @inlinable
  public nonisolated subscript<P: Sendable>(_ protocol: P.Type) -> Delegates<P> {
    Delegates(hub: self, recipients: Recipients(`protocol`))
  }
}
