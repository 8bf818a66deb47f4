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
        on: DispatchQueueTaskExecutor.shared(on: queue), fileID: fileID, line: line)
    }
  }
#endif
