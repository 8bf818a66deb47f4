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
public struct Delegates<P: Sendable>: Sendable {
  /// The hub that the subscribers are subscribed to.
  public let hub: DelegateHub

  /// The subscribers that the calls are for.
  @usableFromInline
  let audience: Audience<P>

  /// What to give away: it can subscribe and unsubscribe, and nothing else.
  public var registry: DelegateRegistry<P> {
    DelegateRegistry(hub: hub, base: audience.base)
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
    Delegates<Narrower>(hub: hub, audience: audience.conforming(to: `protocol`))
  }

  /// Whether nobody is subscribed, or nobody that conforms.
  ///
  /// As ``DelegateHub/hasSubscribers(of:)``: synchronous, and it may be out of date when it is read.
  ///
  /// - Complexity: O(1); after ``conforming(to:)`` O(*n*) in the subscriptions up to the first
  ///   that conforms.
  public var isEmpty: Bool { !hub.hasSubscribers(among: audience) }

  /// How many live subscribers there are, or how many that conform.
  ///
  /// As ``DelegateHub/subscriberCount(of:)``.
  ///
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  public var count: Int {
    get async { await hub.subscriberCount(among: audience) }
  }

  /// The live subscribers in the order in which they are served, or those that conform.
  ///
  /// As ``DelegateHub/subscribers(of:)``.
  ///
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  public var subscribers: [P] {
    get async { await hub.subscribers(among: audience) }
  }
}

extension Delegates {
  /// Makes the calls for one protocol of a hub, by default of a new one.
  ///
  /// - Parameters:
  ///   - protocol: the protocol, as `WorkerDelegate.self`.
  ///   - hub: the hub.
  public init(_ protocol: P.Type = P.self, of hub: DelegateHub = DelegateHub()) {
    self.init(hub: hub, audience: Audience(`protocol`))
  }

  /// Calls a synchronous handler on every subscriber, without waiting for any.
  ///
  /// As ``DelegateHub/notify(_:_:)-9yydi``.
  ///
  /// - Parameter body: what to do with each subscriber.
  /// - Complexity: O(1) in the number of subscribers.
  @inlinable
  public func notify(_ body: @escaping @Sendable (P) throws -> Void) {
    hub.post(.calling(body), to: audience)
  }

  /// Calls an asynchronous handler on every subscriber, without waiting for any.
  ///
  /// As ``DelegateHub/notify(_:_:)-2z5cx``.
  ///
  /// - Parameter body: what to do with each subscriber.
  /// - Complexity: O(1) in the number of subscribers.
  @inlinable
  public func notify(
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void
  ) {
    hub.post(.awaiting(body), to: audience)
  }

  /// Calls a handler on every subscriber on the main actor, without waiting for any.
  ///
  /// As ``DelegateHub/notify(_:_:)-2mdiv``.
  ///
  /// - Parameter body: what to do with each subscriber.
  /// - Complexity: O(1) in the number of subscribers.
  @inlinable
  public func notify<E>(_ body: @escaping @MainActor @Sendable (P) throws(E) -> Void) {
    hub.post(.callingOnMainActor(body), to: audience)
  }

  /// Calls a handler on every subscriber, and waits until all have handled it.
  ///
  /// As ``DelegateHub/notifyAndWait(_:within:_:)-4l7hx``.
  ///
  /// - Parameters:
  ///   - duration: how long to wait at most; `nil` for as long as it takes.
  ///   - body: what to do with each subscriber.
  /// - Returns: the subscribers that had not passed the notification when it returned.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  @discardableResult
  public func notifyAndWait(
    within duration: Duration? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void
  ) async -> DelegateHub.Leftovers {
    await hub.postAndWait(.awaiting(body), to: audience, within: duration)
  }

  /// Calls a synchronous handler on every subscriber, and waits until all have handled it.
  ///
  /// As ``DelegateHub/notifyAndWait(_:within:_:)-v9d4``.
  ///
  /// - Parameters:
  ///   - duration: how long to wait at most; `nil` for as long as it takes.
  ///   - body: what to do with each subscriber.
  /// - Returns: the subscribers that had not passed the notification when it returned.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  @discardableResult
  public func notifyAndWait(
    within duration: Duration? = nil, _ body: @escaping @Sendable (P) throws -> Void
  ) async -> DelegateHub.Leftovers {
    await hub.postAndWait(.calling(body), to: audience, within: duration)
  }

  /// Calls a handler on every subscriber on the main actor, and waits until all have handled it.
  ///
  /// As ``DelegateHub/notifyAndWait(_:within:_:)-2o0qo``.
  ///
  /// - Parameters:
  ///   - duration: how long to wait at most; `nil` for as long as it takes.
  ///   - body: what to do with each subscriber.
  /// - Returns: the subscribers that had not passed the notification when it returned.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  @discardableResult
  public func notifyAndWait<E>(
    within duration: Duration? = nil, _ body: @escaping @MainActor @Sendable (P) throws(E) -> Void
  ) async -> DelegateHub.Leftovers {
    await hub.postAndWait(.callingOnMainActor(body), to: audience, within: duration)
  }
}

extension DelegateHub {
  /// The calls of this hub for one protocol, without the protocol's name at each.
  ///
  /// **Isolation.** Works from any thread.
  ///
  /// - Parameter protocol: the protocol, as `WorkerDelegate.self`.
  /// - Returns: the calls.
  /// - Complexity: O(1).
  public nonisolated func delegates<P: Sendable>(_ protocol: P.Type) -> Delegates<P> {
    Delegates(hub: self, audience: Audience(`protocol`))
  }
}
