extension DelegateHub {
  /// Subscribes an object to a protocol.
  ///
  /// When it returns, every later call on that protocol reaches the subscriber. Subscribing the same
  /// object to the same protocol again changes its options and keeps its place; it is never called
  /// twice.
  ///
  /// **Order.** Subscribers are served by priority, those of equal priority in the order in which they
  /// subscribed.
  ///
  /// **Isolation.** Works from any thread and without waiting, from `init` and from every handler.
  ///
  /// **Errors.** A value type as a subscriber stops the program with a message that names it: only
  /// objects can be held weakly.
  ///
  /// ```swift
  /// hub.subscribe(audit, to: WorkerDelegate.self)
  /// hub.subscribe(quota, to: WorkerDelegate.self, priority: 10)  // asked first
  /// ```
  ///
  /// - Parameters:
  ///   - subscriber: an object that conforms to the protocol.
  ///   - protocol: the protocol, as `WorkerDelegate.self`.
  ///   - priority: higher is asked and served first.
  ///   - id: who the subscriber is, if not the object itself: of the subscribers with equal ids only
  ///     the newest is subscribed, in the place of the older one and with what waited for it. One
  ///     that the older was about to handle at that moment is counted as cancelled. It is not told of
  ///     its end: ids have to be as unique as what they stand for.
  ///   - hold: whether the hub keeps the subscriber alive.
  ///   - mailbox: what to do when notifications come faster than the subscriber handles them.
  ///   - executor: where its handlers run; `nil` for the hub's choice.
  ///   - fileID: the source file that subscribes, for diagnostics.
  ///   - line: the line that subscribes.
  /// - Returns: the subscription, which need not be kept.
  /// - Complexity: O(1), amortised.
  @discardableResult
  public nonisolated func subscribe<P: Sendable>(
    _ subscriber: P, to protocol: P.Type, priority: Int = 0,
    id: (any Hashable & Sendable)? = nil, hold: Hold = .weakly,
    mailbox: MailboxPolicy = .unbounded, on executor: (any TaskExecutor)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Subscription {
    let site = Site(file: fileID, line: line)
    guard let type = type(of: subscriber as Any) as? any AnyObject.Type else {
      fatalError(
        """
        DelegateHub.subscribe(_:to:) at \(site): \(type(of: subscriber as Any)) is a value type, and \
        only an object can be a subscriber. Make it a class or an actor, or wrap it in one.
        """)
    }
    if let limit = mailbox.limit, limit < 1 {
      fatalError(
        """
        DelegateHub.subscribe(_:to:) at \(site): a mailbox with a limit of \(limit) could hold nothing. \
        Give a limit of 1 or more.
        """)
    }
    let newcomer = Newcomer(
      object: Self.object(of: subscriber, as: type), type: type,
      attachments: .init(
        subscriber: hold == .strongly ? subscriber : nil, id: id.map(Identity.init),
        executor: handlerExecutor(for: executor)),
      priority: priority, policy: mailbox, site: site)
    let node = inbox.subscribe(
      newcomer, reference: WeakReference(subscriber, object: newcomer.object), to: `protocol`)
    return Subscription(node: node)
  }

  /// Ends an object's subscription to a protocol.
  ///
  /// When it returns, no call of that protocol starts on the object any more, as with
  /// ``DelegateHub/Subscription/cancel()``. Does nothing if it is not subscribed.
  ///
  /// **Isolation.** Works from any thread, from every handler and from `deinit`.
  ///
  /// - Parameters:
  ///   - subscriber: the object that subscribed.
  ///   - protocol: the protocol.
  /// - Complexity: O(1), and O(*n*) in the *n* subscriptions that were given an id.
  public nonisolated func unsubscribe<P>(_ subscriber: P, from protocol: P.Type) {
    let identity = ObjectIdentifier(Self.object(of: subscriber, as: type(of: subscriber as Any)))
    inbox.terminate(at: identity, of: ObjectIdentifier(`protocol`))
  }

  /// Ends all subscriptions of an object.
  ///
  /// When it returns, no call of this hub starts on the object any more. Does nothing if it is not
  /// subscribed.
  ///
  /// **Isolation.** Works from any thread, from every handler and from the object's own `deinit`.
  ///
  /// - Parameter subscriber: the object that subscribed.
  /// - Complexity: O(*p*) in the hub's *p* protocols, and O(*n*) in the *n* subscriptions that were
  ///   given an id.
  public nonisolated func unsubscribe(_ subscriber: AnyObject) {
    inbox.terminate(at: ObjectIdentifier(subscriber))
  }

  /// Ends all subscriptions that were made with an id.
  ///
  /// When it returns, no call of this hub starts on those subscribers any more. Does nothing if there
  /// are none.
  ///
  /// **Isolation.** Works from any thread, from every handler and from `deinit`. The ids are compared
  /// on the caller's thread, under no lock.
  ///
  /// - Parameter id: the id that was given to ``subscribe(_:to:priority:id:hold:mailbox:on:fileID:line:)``.
  /// - Complexity: O(*p*) in the hub's *p* protocols.
  public nonisolated func unsubscribe(id: some Hashable & Sendable) {
    inbox.terminate(identifiedBy: Identity(id))
  }

  /// Ends all subscriptions to a protocol.
  ///
  /// When it returns, no call of that protocol starts on those who were subscribed.
  ///
  /// **Isolation.** Works from any thread, from every handler and from `deinit`.
  ///
  /// - Parameter protocol: the protocol.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  public nonisolated func unsubscribeAll<P>(from protocol: P.Type) {
    inbox.terminateAll(of: ObjectIdentifier(`protocol`))
  }

  /// The object that a value of a protocol's type is.
  ///
  /// An `any Error` keeps its object in a box, and it is the box that a plain cast finds.
  private static func object<P>(of subscriber: P, as type: Any.Type) -> AnyObject {
    let object = subscriber as AnyObject
    guard Swift.type(of: object) != type, let error = subscriber as? any Error else {
      return object
    }
    return unboxed(error)
  }

  private static func unboxed(_ error: some Error) -> AnyObject { error as AnyObject }
}
