// A module that imports this one has the hub with it.
@_exported public import Delegation
public import Distributed

extension DelegateHub {
  /// Subscribes a distributed actor to a protocol: a remote one is held strongly, a local one weakly.
  ///
  /// The hub keeps a remote actor's proxy alive until it is unsubscribed, because nothing else does. It holds a local
  /// actor weakly, like any other subscriber. The actor's id identifies it, with its actor system: all proxies of one
  /// actor that one system makes are one subscriber, which is never called twice. An equal id of another system, or one
  /// that was passed as `id:`, is another subscriber's. When it returns, every later call on that protocol reaches the
  /// actor.
  ///
  /// The actor system decides the result of a call. If the system reports a failure, the handler throws: it counts as
  /// `absent:` says, and for a notification, or a question with `absent:`, it is an incident. A system may neither
  /// answer nor fail, so give questions a deadline.
  ///
  /// **Order.** As with other subscribers: the next notification is sent when the actor has answered the one before. A
  /// second proxy replaces the first: its notifications wait for a handler that still runs on the first, its questions
  /// do not.
  ///
  /// **Isolation.** Works from any thread and without waiting, even if a local actor is busy.
  ///
  /// **Errors.** An actor that does not conform to the protocol stops the program with a message that
  /// names both.
  ///
  /// ```swift
  /// for await doorman in await cluster.receptionist.listing(of: .doormen) {
  ///   hub.subscribe(doorman, to: Gatekeeper.self)
  /// }
  /// ```
  ///
  /// When the system says that the actor is gone, call `hub.unsubscribe(id: doorman.id)`.
  ///
  /// To hold a local actor strongly, pass `id:` and `hold:` yourself. If you know only the protocol of a subscriber,
  /// use ``subscribe(localOrRemote:to:priority:mailbox:on:fileID:line:)``. The plain form cannot see that it is a
  /// distributed actor, and would hold a proxy weakly.
  ///
  /// - Parameters:
  ///   - subscriber: a distributed actor that conforms to the protocol, or the stub of a `@Resolvable`
  ///     protocol that has been made to conform to it.
  ///   - protocol: the protocol, as `Gatekeeper.self`.
  ///   - priority: higher is asked and served first.
  ///   - mailbox: what to do when notifications come faster than the subscriber handles them. Give a remote actor a
  ///     limit, because they accumulate while a peer does not answer.
  ///   - executor: where calls to it begin; `nil` for the hub's choice.
  ///   - fileID: the source file that subscribes, for diagnostics.
  ///   - line: the line that subscribes.
  /// - Returns: the subscription, which need not be kept.
  /// - Complexity: O(1), amortised.
  @discardableResult
  public nonisolated func subscribe<Subscriber: DistributedActor, P: Sendable>(
    _ subscriber: Subscriber, to protocol: P.Type, priority: Int? = nil,
    mailbox: MailboxPolicy? = nil, on executor: (any TaskExecutor)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Subscription {
    subscribe(
      conforming(subscriber, to: `protocol`, "DelegateHub.subscribe(_:to:)", fileID, line),
      to: `protocol`, priority: priority, id: identity(of: subscriber), hold: hold(on: subscriber),
      mailbox: mailbox, on: executor, fileID: fileID, line: line)
  }

  /// Subscribes a distributed actor to each of the protocols that it conforms to.
  ///
  /// It holds and identifies the actor as ``subscribe(_:to:priority:mailbox:on:fileID:line:)``
  /// does. When it returns, every later call on those protocols reaches the actor. The protocols
  /// that it does not conform to are skipped.
  ///
  /// **Order** and **Isolation.** As with
  /// ``subscribe(_:to:priority:mailbox:on:fileID:line:)``.
  ///
  /// **Errors.** An actor that conforms to none of them stops the program with a message that names it.
  ///
  /// ```swift
  /// hub.subscribe(doorman, toEachOf: Gatekeeper.self, Janitor.self)
  /// ```
  ///
  /// - Parameters:
  ///   - subscriber: a distributed actor that conforms to at least one of the protocols.
  ///   - first: the first protocol, as `Gatekeeper.self`.
  ///   - rest: the others.
  ///   - priority: higher is asked and served first.
  ///   - mailbox: what to do when notifications come faster than the subscriber handles them.
  ///   - executor: where calls to it begin; `nil` for the hub's choice.
  ///   - fileID: the source file that subscribes, for diagnostics.
  ///   - line: the line that subscribes.
  /// - Returns: the subscriptions, in the order of the protocols, which need not be kept.
  /// - Complexity: O(1) for each protocol, amortised.
  @discardableResult
  public nonisolated func subscribe<Subscriber: DistributedActor, P: Sendable, each Q: Sendable>(
    _ subscriber: Subscriber, toEachOf first: P.Type, _ rest: repeat (each Q).Type,
    priority: Int? = nil,
    mailbox: MailboxPolicy? = nil, on executor: (any TaskExecutor)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> [Subscription] {
    subscribe(
      subscriber, toEachOf: first, repeat each rest, priority: priority,
      id: identity(of: subscriber), hold: hold(on: subscriber), mailbox: mailbox, on: executor,
      fileID: fileID, line: line)
  }

  /// Subscribes an object that may be a local or a remote distributed actor, or neither.
  ///
  /// It holds and identifies a distributed actor as ``subscribe(_:to:priority:mailbox:on:fileID:line:)`` does. It holds
  /// any other object weakly. For subscribers of which you know only the protocol:
  ///
  /// ```swift
  /// func add(_ gatekeeper: any Gatekeeper) {
  ///   hub.subscribe(localOrRemote: gatekeeper, to: Gatekeeper.self)
  /// }
  /// ```
  ///
  /// **Order** and **Isolation.** As with
  /// ``subscribe(_:to:priority:mailbox:on:fileID:line:)``.
  ///
  /// **Errors.** A value type as a subscriber stops the program with a message that names it.
  ///
  /// - Parameters:
  ///   - subscriber: an object that conforms to the protocol.
  ///   - protocol: the protocol, as `Gatekeeper.self`.
  ///   - priority: higher is asked and served first.
  ///   - mailbox: what to do when notifications come faster than the subscriber handles them.
  ///   - executor: where calls to it begin; `nil` for the hub's choice.
  ///   - fileID: the source file that subscribes, for diagnostics.
  ///   - line: the line that subscribes.
  /// - Returns: the subscription, which need not be kept.
  /// - Complexity: O(1), amortised.
  @discardableResult
  public nonisolated func subscribe<P: Sendable>(
    localOrRemote subscriber: P, to protocol: P.Type, priority: Int? = nil,
    mailbox: MailboxPolicy? = nil, on executor: (any TaskExecutor)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Subscription {
    guard let actor = subscriber as? any DistributedActor else {
      return subscribe(
        subscriber, to: `protocol`, priority: priority, hold: .weakly, mailbox: mailbox,
        on: executor, fileID: fileID, line: line)
    }
    return subscribe(
      actor, to: `protocol`, priority: priority, mailbox: mailbox, on: executor, fileID: fileID,
      line: line)
  }
}

extension DelegateHub {
  /// Ends all subscriptions of a distributed actor, whichever of its actor system's proxies has subscribed.
  ///
  /// Subscriptions of this very actor or proxy that were given another id end too. Subscriptions by proxies of other
  /// systems stay, even if the actor lives in one system and has a proxy of another: `unsubscribe(id: subscriber.id)`
  /// ends all that have an equal id. When it returns, no call of this hub starts on any of these any more. Does nothing
  /// if the actor is not subscribed.
  ///
  /// **Isolation.** Works from any thread, from every handler and from `deinit`.
  ///
  /// - Parameter subscriber: the actor, or any proxy of it that the same system has made.
  /// - Complexity: O(*p*) in the hub's *p* protocols.
  public nonisolated func unsubscribe(_ subscriber: any DistributedActor) {
    // Not a generic method: the compiler would prefer the one for any object.
    unsubscribe(id: identity(of: subscriber))
    unsubscribe(subscriber as AnyObject)
  }
}

extension Subscribable where P: Sendable {
  /// Subscribes a distributed actor: a remote one is held strongly, a local one weakly.
  ///
  /// As ``DelegateHub/subscribe(_:to:priority:mailbox:on:fileID:line:)``.
  ///
  /// - Parameters:
  ///   - subscriber: a distributed actor that conforms to the protocol, or the stub of a
  ///     `@Resolvable` protocol that has been made to conform to it.
  ///   - priority: higher is asked and served first.
  ///   - mailbox: what to do when notifications come faster than the subscriber handles them.
  ///   - executor: where calls to it begin; `nil` for the hub's choice.
  ///   - fileID: the source file that subscribes, for diagnostics.
  ///   - line: the line that subscribes.
  /// - Returns: the subscription, which need not be kept.
  /// - Complexity: O(1), amortised.
  @discardableResult
  public func subscribe(
    _ subscriber: any DistributedActor, priority: Int? = nil,
    mailbox: DelegateHub.MailboxPolicy? = nil,
    on executor: (any TaskExecutor)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> DelegateHub.Subscription {
    subscribe(
      conforming(subscriber, to: P.self, "Subscribable.subscribe(_:)", fileID, line),
      priority: priority, id: identity(of: subscriber), hold: hold(on: subscriber),
      mailbox: mailbox,
      on: executor, fileID: fileID, line: line)
  }
}

/// How the hub holds a distributed actor.
///
/// `whenLocal` would wait until a local actor has time.
func hold(on subscriber: some DistributedActor) -> DelegateHub.Hold {
  __isRemoteActor(subscriber) ? .strongly : .weakly
}

/// A distributed actor as a value of the protocol that it subscribes to.
func conforming<Subscriber: DistributedActor, P>(
  _ subscriber: Subscriber, to type: P.Type, _ call: String, _ fileID: StaticString, _ line: UInt
) -> P {
  if let conforming = subscriber as? P { return conforming }
  fatalError(
    """
    \(call) at \(fileID):\(line): \(Subscriber.self) does not conform to \
    \(P.self). If it is the stub of a @Resolvable protocol, let it conform in an extension.
    """)
}

/// The identity of a distributed actor: its id with its actor system, because ids of other kinds, and of other systems,
/// may be equal.
///
/// A system that is no object is identified by its type.
func identity<Subscriber: DistributedActor>(
  of subscriber: Subscriber
) -> any Hashable & Sendable {
  let system = subscriber.actorSystem
  let object = type(of: system) is AnyClass ? ObjectIdentifier(system as AnyObject) : nil
  return Identity(subscriber.id, in: object ?? ObjectIdentifier(Subscriber.ActorSystem.self))
}
