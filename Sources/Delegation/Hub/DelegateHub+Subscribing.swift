/// How objects subscribe to protocols.
extension DelegateHub {
  /// Subscribes an object to a protocol.
  ///
  /// When it returns, every later call on that protocol reaches the subscriber.
  ///
  /// **Place.** A place is an `id:` of the protocol or, without one, an object. It has one subscription at a time,
  /// which a new one there replaces: that of another object with an equal `id:`, or of the same object with an option
  /// that does not hold yet. The former ``Subscription`` value has ended if the object is another, and stands for the
  /// new subscription if it is the same. To subscribe the same object again and name nothing new changes nothing,
  /// unless ``Subscription/finish()`` was called.
  ///
  /// The new subscription takes over what waits, the position in the order, and the options that you do not name.
  /// Questions and `forEach` go to it at once, notifications once the former one's running handler has ended; if that
  /// handler hangs, cancel the former subscription, or unsubscribe its object. Notifications that are only queued for
  /// the former one's executor delay nothing.
  ///
  /// **Order.** Subscribers with a higher priority are served first. Those with equal priority are served in the order
  /// in which they subscribed.
  ///
  /// **Isolation.** Works from any thread and without waiting, from `init` and from every handler.
  ///
  /// **Errors.** A value type as a subscriber stops the program with a message that names it, because only objects can
  /// be held weakly. A class given as the protocol stops it too, because no call would reach its subscribers, and so
  /// does a mailbox with a limit below 1.
  ///
  /// ```swift
  /// hub.subscribe(audit, to: WorkerGate.self)
  /// hub.subscribe(quota, to: WorkerGate.self, priority: 10)  // asked first
  /// ```
  ///
  /// To go back to the hub's executor, end the subscription and subscribe again, or name the default executor.
  ///
  /// - Parameters:
  ///   - subscriber: an object that conforms to the protocol.
  ///   - protocol: the protocol, as `WorkerGate.self`. If it is not `: AnyObject`, each call of a subscriber is dearer.
  ///   - priority: higher is asked and served first; 0 by default.
  ///   - id: identifies the subscriber, in place of the object itself: see *Place*. Ids are compared as `AnyHashable`,
  ///     so `1`, `1.0` and `UInt8(1)` are equal. If an object that is subscribed already names a free id, its place has
  ///     that id from then on; if it names another subscription's id, that subscription ends, and what waited for it is
  ///     cancelled. What exceeds a replaced subscriber's limit, and is not dropped yet because its handler runs, is
  ///     taken over too.
  ///   - hold: whether the hub keeps the subscriber alive; by default it does not.
  ///   - mailbox: what to do when notifications come faster than the subscriber handles them; by default all of them
  ///     wait.
  ///   - executor: where its handlers run; by default that is the hub's choice. A handler that was sent to a former
  ///     executor stays there, even if that executor never runs it. A question waits for a handler that it has sent to
  ///     an executor, until the subscription ends: give the question a deadline. With a blocked or suspended executor,
  ///     each question that returns at its deadline leaves about 2 kB.
  ///   - fileID: the source file that subscribes, for diagnostics.
  ///   - line: the line that subscribes.
  /// - Returns: the subscription, which need not be kept.
  /// - Complexity: O(1), amortised. At a place that is taken, with a mailbox with a limit, O(*n*) in the *n*
  ///   notifications that wait there. For an object with *n* ended subscriptions to the protocol whose handlers have
  ///   not returned, O(*n*). A replacement also costs O(*n*) in the *n* handlers, of all hubs, that wait in `drain`,
  ///   `notifyAndWait` or `cancelAndWait`. While other threads keep replacing the same id, it tries again.
  @discardableResult
  public nonisolated func subscribe<P: Sendable>(
    _ subscriber: P, to protocol: P.Type, priority: Int? = nil,
    id: (any Hashable & Sendable)? = nil, hold: Hold? = nil, mailbox: MailboxPolicy? = nil,
    on executor: (any TaskExecutor)? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Subscription {
    let options = SubscriptionOptions(
      of: subscriber as AnyObject, id: id.map { Identity($0) }, hold: hold, policy: mailbox,
      executor: handlerExecutor(for: executor))
    return add(subscriber, to: `protocol`, options, priority: priority, at: (fileID, line))
  }

  /// Subscribes an object to each of the protocols that it conforms to.
  ///
  /// As ``subscribe(_:to:priority:id:hold:mailbox:on:fileID:line:)`` for each of these protocols. Those that the object
  /// does not conform to are skipped: a module names all protocols of its server in one line. A former object with the
  /// `id:` is replaced in the protocols that the new one conforms to, and stays subscribed to the others.
  ///
  /// **Errors.** An object that conforms to none of them stops the program with a message that names it.
  ///
  /// ```swift
  /// hub.subscribe(module, toEachOf: RoomRule.self, RoomObserver.self, RoomRouter.self)
  /// ```
  ///
  /// - Parameters:
  ///   - subscriber: an object that conforms to at least one of the protocols.
  ///   - first: the first protocol, as `RoomRule.self`.
  ///   - rest: the others.
  ///   - priority: higher is asked and served first.
  ///   - id: identifies the subscriber.
  ///   - hold: whether the hub keeps the subscriber alive.
  ///   - mailbox: what to do when notifications come too fast.
  ///   - executor: where its handlers run.
  ///   - fileID: the source file that subscribes, for diagnostics.
  ///   - line: the line that subscribes.
  /// - Returns: the subscriptions, in the order of the protocols, which need not be kept.
  /// - Complexity: for each protocol, that of ``subscribe(_:to:priority:id:hold:mailbox:on:fileID:line:)``.
  @discardableResult
  public nonisolated func subscribe<S: AnyObject & Sendable, P: Sendable, each Q: Sendable>(
    _ subscriber: S, toEachOf first: P.Type, _ rest: repeat (each Q).Type, priority: Int? = nil,
    id: (any Hashable & Sendable)? = nil, hold: Hold? = nil, mailbox: MailboxPolicy? = nil,
    on executor: (any TaskExecutor)? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> [Subscription] {
    let options = SubscriptionOptions(
      of: subscriber as AnyObject, id: id.map { Identity($0) }, hold: hold, policy: mailbox,
      executor: handlerExecutor(for: executor))
    var subscriptions: [Subscription] = []
    var names: [String] = []
    func add<Each: Sendable>(to type: Each.Type) {
      names.append("\(type)")
      guard let conforming = subscriber as? Each else { return }
      subscriptions.append(
        self.add(conforming, to: type, options, priority: priority, at: (fileID, line)))
    }
    add(to: first)
    repeat add(to: each rest)
    if subscriptions.isEmpty {
      fatalError(
        """
        DelegateHub.subscribe(_:toEachOf:) at \(fileID):\(line): \(type(of: subscriber)) conforms to \
        none of the protocols (\(names.joined(separator: ", "))), so it would never be called. Let it \
        conform to one of them, or do not subscribe it.
        """)
    }
    return subscriptions
  }

  /// Subscribes an object to a protocol, after checking the object, the protocol and the mailbox's limit.
  nonisolated func add<P>(
    _ subscriber: P, to type: P.Type, _ options: SubscriptionOptions?, priority: Int? = nil,
    at line: SubscribeSite.Line
  ) -> Subscription {
    let dynamicType: Any.Type = Swift.type(of: subscriber as Any)
    guard dynamicType is any AnyObject.Type else {
      fatalError(
        """
        DelegateHub.subscribe(_:to:) at \(line.file):\(line.line): \(dynamicType) is a value type, \
        and only an object can be a subscriber. Make it a class or an actor, or wrap it in one.
        """)
    }
    if type is any AnyObject.Type {
      fatalError(
        """
        DelegateHub.subscribe(_:to:) at \(line.file):\(line.line): \(type) is a class, and no call on a protocol would \
        reach a subscriber to it. Name the protocol itself, as in `to: DoorDelegate.self`; a generic function takes it \
        as a parameter, `to protocol: P.Type`, and the subscriber as `P`.
        """)
    }
    if let limit = options?.policy?.limit, limit < 1 {
      fatalError(
        """
        DelegateHub.subscribe(_:to:) at \(line.file):\(line.line): a mailbox with a limit of \(limit) could hold nothing. \
        Give a limit of 1 or more.
        """)
    }
    let object = Self.object(of: subscriber, dynamicType)
    let node = core.topics.find(type, owner: core).subscribe(
      (object, options, priority, line), reference: WeakReference(subscriber, object: object))
    // Keeps the hub alive until here, where the delivery of what a replacement takes over retains it.
    withExtendedLifetime(self) {}
    return Subscription(node: node)
  }

  /// The object behind a value of a protocol's type.
  ///
  /// An `any Error` keeps its object in a box, and a plain cast returns the box.
  static func object<P>(of subscriber: P, _ dynamicType: Any.Type? = nil) -> AnyObject {
    let object = subscriber as AnyObject
    if type(of: object) == dynamicType ?? type(of: subscriber as Any) { return object }
    return (subscriber as? any Error).map { unboxed($0) } ?? object
  }

  private static func unboxed(_ error: some Error) -> AnyObject { error as AnyObject }
}

/// How subscriptions to all protocols end, by the subscriber or its id.
extension DelegateHub {
  /// Ends all subscriptions of an object, and of the closures that observe with it.
  ///
  /// When it returns, no call of this hub starts on the object any more, as with ``Subscription/cancel()``. Does
  /// nothing if the object is not subscribed.
  ///
  /// **Isolation.** Works from any thread, from every handler and from the object's own `deinit`.
  ///
  /// - Parameter subscriber: the object that subscribed.
  /// - Complexity: for each protocol of the hub, that of ``Subscription/cancel()``.
  public nonisolated func unsubscribe(_ subscriber: AnyObject) {
    for topic in core.topics.all { topic.terminate(subscriber) }
  }

  /// Ends all subscriptions of an object and waits until none of its handlers is running, or a deadline comes.
  ///
  /// When it returns empty, no handler of this hub is running on the object, and none will. An incident may still read
  /// an error that a handler threw: ``drain(within:)`` waits for that. At the deadline it returns the subscriptions
  /// whose handlers still run: what those handlers use must not be freed.
  ///
  /// **Order.** From this call on, no call starts on the object.
  ///
  /// **Isolation.** Works from everywhere, from every handler too.
  ///
  /// **Re-entrancy.** Called from a handler, it waits neither for that handler, nor for handlers that wait themselves:
  /// of those, it returns the ones that run on the object.
  ///
  /// **Cancellation.** Without a deadline it waits even if the caller's task is cancelled, because resources may be
  /// freed when it returns. With a deadline, a cancelled call returns at once with what is left.
  ///
  /// ```swift
  /// await hub.unsubscribeAndWait(module)
  /// module.close()  // nobody calls it any more
  /// ```
  ///
  /// ```swift
  /// let left = await hub.unsubscribeAndWait(module, within: .seconds(5))
  /// if left.isEmpty { module.close() } else { logger.error("not unloaded: \(left)") }
  /// ```
  ///
  /// - Parameters:
  ///   - subscriber: the object that subscribed.
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for no limit. With zero or less it does
  ///     not wait.
  /// - Returns: the object's subscriptions with running handlers; empty if there are none.
  /// - Complexity: as ``unsubscribe(_:)``, apart from the waiting.
  @discardableResult
  public nonisolated func unsubscribeAndWait(
    _ subscriber: AnyObject, within duration: Duration? = nil
  ) async -> Leftovers {
    await Leftovers(of: end(subscriber, in: core.topics.all), within: duration)
  }

  /// Ends an object's subscriptions to some protocols.
  ///
  /// - Returns: all ended subscriptions of the object to these protocols that may still have a handler running.
  nonisolated func end(_ subscriber: AnyObject, in topics: [Topic]) -> [SubscriptionNode] {
    for topic in topics { topic.terminate(subscriber) }
    return topics.flatMap { $0.ended(of: subscriber) }
  }

  /// Ends all subscriptions with an id.
  ///
  /// When it returns, no call of this hub starts by those subscriptions any more, as with ``Subscription/cancel()``.
  /// Does nothing if there are none.
  ///
  /// **Isolation.** Works from any thread, from every handler and from `deinit`; in an object's `deinit` unsubscribe
  /// the object, because another object may have its id by then. The ids are compared on the caller's thread, under no
  /// lock.
  ///
  /// - Parameter id: the id that was given to ``subscribe(_:to:priority:id:hold:mailbox:on:fileID:line:)``.
  /// - Complexity: for each protocol of the hub, that of ``Subscription/cancel()``, and O(*n*) in the *n* ended
  ///   subscriptions whose handlers have not returned.
  public nonisolated func unsubscribe(id: some Hashable & Sendable) {
    let identity = Identity(id)
    for topic in core.topics.all { topic.terminate(identifiedBy: identity) }
  }
}

extension DelegateHub.Subscription {
  /// Ends the subscription once its subscriber has handled what was posted before.
  ///
  /// It returns at once. If nothing waits and no handler runs, the subscription ends at once. The subscription's
  /// stream, if there is one, ends then too.
  ///
  /// Until the subscription ends, its subscriber is still asked questions. What is posted after this call counts as
  /// waiting, pushes nothing out of a mailbox with a limit, and is cancelled when the subscription ends. Only a
  /// replacement undoes this call: if the same object, or another with an equal id, subscribes before that, it takes
  /// over all that waits.
  ///
  /// **Isolation.** Works from any thread, from synchronous code and from every handler.
  ///
  /// - Complexity: as ``cancel()``.
  public func finish() { node.present.finish(at: node.published) }

  /// Ends the subscription and waits until none of its handlers is running, or a deadline comes.
  ///
  /// When it returns empty, no handler of the subscription is running, and none will; nor is a handler of an ended
  /// subscription of the same object to the same protocol. An incident may still read an error that a handler threw:
  /// ``DelegateHub/drain(within:)`` waits for that. At the deadline it returns the subscriptions with handlers that
  /// still run: what those handlers use must not be freed.
  ///
  /// **Re-entrancy.** Called from a handler, it waits neither for that handler, nor for handlers that wait themselves,
  /// in this call, `drain` or `notifyAndWait`: if one of those is the subscription's, the subscription is returned. For
  /// voters, and for tasks that a handler starts, the same holds as for ``DelegateHub/drain(within:)``.
  ///
  /// **Order**, **Isolation** and **Cancellation.** As with ``DelegateHub/unsubscribeAndWait(_:within:)``.
  ///
  /// ```swift
  /// let left = await subscription.cancelAndWait(within: .seconds(5))
  /// if !left.isEmpty { logger.error("still running: \(left)") }
  /// ```
  ///
  /// - Parameter duration: how long to wait at most, by the hub's clock; `nil` for no limit. With zero or less
  ///   it does not wait.
  /// - Returns: of this subscription and the same object's ended ones, those with running handlers.
  /// - Complexity: as ``cancel()``, apart from the waiting.
  @discardableResult
  public func cancelAndWait(within duration: Duration? = nil) async -> DelegateHub.Leftovers {
    let node = node.present
    cancel()
    let ended = node.reference.object.map(node.topic.ended(of:)) ?? []
    return await DelegateHub.Leftovers(of: ended.filter { $0 !== node } + [node], within: duration)
  }
}

extension DelegateHub.Leftovers {
  /// Waits for the handlers of ended subscriptions, and has those whose handlers still run.
  ///
  /// - Parameters:
  ///   - nodes: the subscriptions.
  ///   - duration: how long to wait at most; `nil` for no limit, even if the task is cancelled.
  init(of nodes: [SubscriptionNode], within duration: Duration?) async {
    let deadline = duration.flatMap { nodes.first?.topic.deadlines.deadline(after: $0) }
    var left: [SubscriptionNode] = []
    for node in nodes {
      let goal = WaitGoal.end(of: node)
      if await !goal.wait(until: deadline, isCancellable: duration != nil) { left.append(node) }
    }
    self.init(subscribers: left.compactMap { Subscriber(leftOf: $0) })
  }
}
