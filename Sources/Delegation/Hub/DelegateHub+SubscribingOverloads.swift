#if canImport(Dispatch)
  public import Dispatch

  extension DelegateHub {
    /// Subscribes an object to a protocol and runs its handlers on a dispatch queue.
    ///
    /// As ``subscribe(_:to:priority:id:hold:mailbox:on:fileID:line:)-6j6cp``, for code that had a
    /// `delegateQueue`.
    ///
    /// **Order.** As without a queue. On a serial queue the synchronous handlers of all its subscribers run
    /// one at a time; while a handler is suspended, others run on the queue.
    ///
    /// **Isolation.** Works from any thread and without waiting, from `init` and from every handler.
    ///
    /// ```swift
    /// hub.subscribe(cache, to: StoreDelegate.self, on: cacheQueue)
    /// ```
    ///
    /// - Parameters:
    ///   - subscriber: an object that conforms to the protocol.
    ///   - protocol: the protocol, as `WorkerDelegate.self`.
    ///   - priority: higher is asked and served first.
    ///   - id: identifies the subscriber, instead of the object itself.
    ///   - hold: whether the hub keeps the subscriber alive.
    ///   - mailbox: what to do when notifications come faster than the subscriber handles them.
    ///   - queue: the queue that its handlers run on.
    ///   - fileID: the source file that subscribes, for diagnostics.
    ///   - line: the line that subscribes.
    /// - Returns: the subscription, which need not be kept.
    /// - Complexity: O(1), amortised.
    @discardableResult
    public nonisolated func subscribe<P: Sendable>(
      _ subscriber: P, to protocol: P.Type, priority: Int? = nil,
      id: (any Hashable & Sendable)? = nil, hold: Hold? = nil,
      mailbox: MailboxPolicy? = nil, on queue: DispatchQueue,
      fileID: StaticString = #fileID, line: UInt = #line
    ) -> Subscription {
      subscribe(
        subscriber, to: `protocol`, priority: priority, id: id, hold: hold, mailbox: mailbox,
        on: DispatchQueueTaskExecutor(queue), fileID: fileID, line: line)
    }
  }
#endif

// Subscriptions and calls name a protocol. If the type is a class, or a generic parameter that stands for
// one, overload resolution prefers this overload, and the compiler warns. It would skip an unavailable
// overload. An existential does not match: `any DoorDelegate` is no class, though its values are objects.
// At run time it does what the other does, and stops the program, as does a call on a class.

extension DelegateHub {
  /// Warns that the type is not a protocol.
  ///
  /// **Isolation.** Works from any thread.
  ///
  /// **Errors.** It stops the program with a message that names the class.
  ///
  /// - Parameters:
  ///   - subscriber: an object.
  ///   - protocol: a class, or a generic parameter that stands for one.
  ///   - priority: not used.
  ///   - id: not used.
  ///   - hold: not used.
  ///   - mailbox: not used.
  ///   - executor: not used.
  ///   - fileID: the source file that subscribes, for diagnostics.
  ///   - line: the line that subscribes.
  /// - Returns: nothing: it does not return.
  /// - Complexity: O(1).
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message: "this subscribes to a class, which no call reaches; name a protocol: DoorDelegate.self"
  )
  @discardableResult
  public nonisolated func subscribe<P: AnyObject & Sendable>(
    _ subscriber: P, to protocol: P.Type, priority: Int? = nil,
    id: (any Hashable & Sendable)? = nil, hold: Hold? = nil,
    mailbox: MailboxPolicy? = nil, on executor: (any TaskExecutor)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Subscription {
    add(subscriber, to: `protocol`, nil, at: Site(file: fileID, line: line))
  }
}
