#if canImport(Dispatch)
  public import Delegation
  public import Dispatch
  public import Distributed

  extension DelegateHub {
    /// Subscribes a distributed actor to a protocol; calls to it begin on a dispatch queue.
    ///
    /// It holds and identifies the actor as without a queue: a remote one strongly, a local one
    /// weakly, each by its id.
    ///
    /// **Order.** As with ``subscribe(_:to:priority:mailbox:on:fileID:line:)-3iimr``.
    ///
    /// **Isolation.** Works from any thread and without waiting, even if a local actor is busy.
    ///
    /// **Errors.** An actor that does not conform to the protocol stops the program with a message
    /// that names both.
    ///
    /// ```swift
    /// hub.subscribe(doorman, to: Gatekeeper.self, on: gateQueue)
    /// ```
    ///
    /// - Parameters:
    ///   - subscriber: a distributed actor that conforms to the protocol, or the stub of a
    ///     `@Resolvable` protocol that has been made to conform to it.
    ///   - protocol: the protocol, as `Gatekeeper.self`.
    ///   - priority: higher is asked and served first.
    ///   - mailbox: what to do when notifications come faster than the subscriber handles them.
    ///   - queue: the queue on which calls to it begin.
    ///   - fileID: the source file that subscribes, for diagnostics.
    ///   - line: the line that subscribes.
    /// - Returns: the subscription, which need not be kept.
    /// - Complexity: O(1), amortised.
    @discardableResult
    public nonisolated func subscribe<Subscriber: DistributedActor, P: Sendable>(
      _ subscriber: Subscriber, to protocol: P.Type, priority: Int? = nil,
      mailbox: MailboxPolicy? = nil, on queue: DispatchQueue,
      fileID: StaticString = #fileID, line: UInt = #line
    ) -> Subscription {
      subscribe(
        conforming(subscriber, to: `protocol`, "DelegateHub.subscribe(_:to:)", fileID, line),
        to: `protocol`, priority: priority, id: identity(of: subscriber),
        hold: hold(on: subscriber),
        mailbox: mailbox, on: DispatchQueueExecutor(queue), fileID: fileID, line: line)
    }

    /// Subscribes an object that may be a local or a remote distributed actor, or neither; calls to it
    /// begin on a dispatch queue.
    ///
    /// It holds and identifies the object as without a queue.
    ///
    /// **Order** and **Isolation.** As with
    /// ``subscribe(_:to:priority:mailbox:on:fileID:line:)-(_,_,_,_,DispatchQueue,_,_)``.
    ///
    /// **Errors.** A value type as a subscriber stops the program with a message that names it.
    ///
    /// - Parameters:
    ///   - subscriber: an object that conforms to the protocol.
    ///   - protocol: the protocol, as `Gatekeeper.self`.
    ///   - priority: higher is asked and served first.
    ///   - mailbox: what to do when notifications come faster than the subscriber handles them.
    ///   - queue: the queue on which calls to it begin.
    ///   - fileID: the source file that subscribes, for diagnostics.
    ///   - line: the line that subscribes.
    /// - Returns: the subscription, which need not be kept.
    /// - Complexity: O(1), amortised.
    @discardableResult
    public nonisolated func subscribe<P: Sendable>(
      localOrRemote subscriber: P, to protocol: P.Type, priority: Int? = nil,
      mailbox: MailboxPolicy? = nil, on queue: DispatchQueue,
      fileID: StaticString = #fileID, line: UInt = #line
    ) -> Subscription {
      guard let actor = subscriber as? any DistributedActor else {
        return subscribe(
          subscriber, to: `protocol`, priority: priority, hold: .weakly, mailbox: mailbox,
          on: DispatchQueueExecutor(queue), fileID: fileID, line: line)
      }
      return subscribe(
        actor, to: `protocol`, priority: priority, mailbox: mailbox, on: DispatchQueueExecutor(queue), fileID: fileID,
        line: line)
    }
  }
#endif
