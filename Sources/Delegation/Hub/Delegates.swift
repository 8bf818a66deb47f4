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
  /// - Parameters:
  ///   - protocol: the protocol, as `WorkerDelegate.self`.
  ///   - hub: the hub.
  ///   - count: how many of the latest notifications a new subscription gets first.
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

  /// As ``DelegateHub/notifyAndWait(_:within:_:)-7n9n3``.
  @_alwaysEmitIntoClient
  @discardableResult
  public func notifyAndWait(
    leaving window: Int = 0, within duration: Duration? = nil, _ body: @escaping @isolated(any) @Sendable (P) throws -> Void
  ) async -> DelegateHub.Outcome {
    await hub.postAndWait(in: recipients, leaving: window, within: duration) { .calling(isolated: body, in: $0) }
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

  /// As ``DelegateHub/notifyAndWait(_:within:_:)-4l7hx``.
  @_alwaysEmitIntoClient
  @discardableResult
  public func notifyAndWait(
    leaving window: Int = 0, within duration: Duration? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void
  ) async -> DelegateHub.Outcome {
    await hub.postAndWait(in: recipients, leaving: window, within: duration) { .awaiting(body, in: $0) }
  }

  /// As ``DelegateHub/notifyAndWait(_:within:_:)-7e3te``.
  @_alwaysEmitIntoClient
  @discardableResult
  public func notifyAndWait(
    leaving window: Int = 0, within duration: Duration? = nil, _ body: @escaping @Sendable (P) throws -> Void
  ) async -> DelegateHub.Outcome {
    await hub.postAndWait(in: recipients, leaving: window, within: duration) { .calling(body, in: $0) }
  }
}

extension Delegates {
  /// Ends all subscriptions once their subscribers have handled what was posted before.
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
