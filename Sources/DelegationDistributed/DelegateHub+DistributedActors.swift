public import Delegation
public import Distributed

extension DelegateHub {
  /// Subscribes a distributed actor to a protocol: a remote one is held strongly, a local one weakly.
  ///
  /// The hub keeps a remote actor's proxy alive, since nobody else does, until it is unsubscribed; it
  /// holds a local actor weakly, as any other subscriber. The actor's id identifies it: proxies of one
  /// actor are one subscriber, which is never called twice. When it returns, every later call on that
  /// protocol reaches the actor.
  ///
  /// The actor system decides the result of a call. A call that the system fails is a handler that throws:
  /// it counts as `absent:` says, and it is an incident if it was a notification, or a question with
  /// `absent:`. If a system neither answers nor fails, the deadline of `vote(_:by:within:absent:_:)` and of
  /// the other questions helps.
  ///
  /// **Order.** As with other subscribers: the next notification is sent when the actor has answered the
  /// one before. Subscribe each actor once: a second proxy takes the first one's place. A notification that
  /// the first was about to handle then is cancelled, and if a handler is running on the first, the next
  /// may begin on the second.
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
  /// To hold a local actor strongly, pass `id:` and `hold:` yourself. For a subscriber of which only the
  /// protocol is known there is ``subscribe(localOrRemote:to:priority:mailbox:on:fileID:line:)``: its type
  /// does not tell that it is a distributed actor, so the plain form would hold a proxy weakly, which would
  /// be released at once.
  ///
  /// - Parameters:
  ///   - subscriber: a distributed actor that conforms to the protocol, or the stub of a `@Resolvable`
  ///     protocol that has been made to conform to it.
  ///   - protocol: the protocol, as `Gatekeeper.self`.
  ///   - priority: higher is asked and served first.
  ///   - mailbox: what to do when notifications come faster than the subscriber handles them. For a
  ///     remote one a limit is advisable, because a peer that does not answer lets them accumulate.
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
    guard let conforming = subscriber as? P else {
      fatalError(
        """
        DelegateHub.subscribe(_:to:) at \(fileID):\(line): \(Subscriber.self) does not conform to \
        \(P.self). If it is the stub of a @Resolvable protocol, let it conform in an extension.
        """)
    }
    return subscribe(
      conforming, to: `protocol`, priority: priority, id: subscriber.id,
      // Not by `whenLocal`, which would wait until a local actor has time.
      hold: __isRemoteActor(subscriber) ? .strongly : .weakly,
      mailbox: mailbox, on: executor, fileID: fileID, line: line)
  }

  /// Subscribes an object that may be a local or a remote distributed actor, or neither.
  ///
  /// A distributed actor is held and identified as with
  /// ``subscribe(_:to:priority:mailbox:on:fileID:line:)``; any other object is held weakly. For subscribers
  /// of which only the protocol is known:
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
