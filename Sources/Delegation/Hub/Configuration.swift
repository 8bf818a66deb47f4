extension DelegateHub {
  /// A hub's settings.
  ///
  /// ```swift
  /// let hub = DelegateHub(
  ///   .init(onIncident: { incident in
  ///     logger.error("\(incident)")
  ///   }))
  /// ```
  public struct Configuration: Sendable {
    /// Where the hub's work and the handlers of its subscribers run; `nil` for Swift's global pool.
    ///
    /// These run elsewhere:
    /// - the handlers of a subscription with `on:`: on its executor
    /// - a closure that says `@MainActor`: on the main actor
    /// - a combiner's `receive`: maybe on the executor of any subscriber of the call
    /// - what a question does before it asks anybody, and what it does at a deadline, the combiner's last calls
    ///   included: on the pool, or on the executor that the caller's task prefers
    ///
    /// **While this executor is blocked or suspended**, all handlers of the hub wait, and each caller that awaits them
    /// without a deadline. Calls with a deadline still return by it, unless their caller runs there or ``clock`` is a
    /// test's. When a call is decided, handlers that run elsewhere do not learn that they are cancelled. So give an
    /// executor that may be blocked or suspended to subscriptions, not to the hub.
    ///
    /// The executor's `enqueue` must not block: a call waits until `enqueue` returns, even past the call's deadline.
    /// `enqueue` may run the job before it returns, but then a child task that ends while it is cancelled may stop the
    /// program. An executor that isolates its tasks to itself costs one more job at each call of a nonisolated
    /// function: write one type for tasks and another for actors, or take ``DispatchQueueExecutor``.
    public var executor: (any TaskExecutor)?

    /// The clock for deadlines.
    ///
    /// Any but a `ContinuousClock` or `SuspendingClock` is taken for a test's: deadlines then run on ``executor``, and
    /// for each one a task sleeps by the clock until its call has returned. So a test can wait until as many tasks
    /// sleep as calls have a deadline; but each such call takes time in proportion to the others under way.
    ///
    /// With any clock, a deadline after 2³² seconds or more never comes.
    public var clock: any Clock<Duration>

    /// Called with each incident: a handler that throws, is late or slow, a mailbox that drops, a subscriber that dies
    /// without having been called, a rule that needs more answers than there are subscribers.
    ///
    /// An error that a question or `forEach` throws, or that is a reply of `collect`, is no incident: the caller has
    /// it. A failure in `notifyAndWait` and a late subscriber of `collect` are incidents, though their callers learn of
    /// them too.
    ///
    /// **Order.** One incident at a time, in the order in which they were found.
    ///
    /// **Isolation.** The closure runs in a task of its own on ``executor``, on no actor and under no lock, and may
    /// call the hub. The task-locals of ``propagating`` are bound as they were at the call that the incident is about,
    /// and for ``Incident/Kind/dropped`` as they were at the post of the last dropped notification. The closure delays
    /// no call, handler or poster, even if it blocks, as long as the executor has a thread left;
    /// ``DelegateHub/drain(within:)`` waits for it. While 256 incidents wait, further ones are only counted; see
    /// ``Incident/leftOut``.
    ///
    /// The default is ``Incident/writeToStandardError()``.
    public var onIncident: @Sendable (Incident) -> Void

    /// How long a handler may run before it is reported as ``Incident/Kind/slow``.
    ///
    /// `nil`, the default, for no limit. A duration of zero or less stops the program when the hub is made. ``clock``
    /// measures the time; a slow handler is noticed before it has run for twice this time. The handlers of a `forEach`
    /// that awaits nothing, and the body of a loop over a stream, are never reported.
    public var slowAfter: Duration?

    /// The task-locals that notifications carry from their poster to the handlers.
    ///
    /// A task-local that is not named here does not reach a handler of a notification, while questions carry all of the
    /// caller's task-locals in any case. ``onIncident`` sees those that are named; the body of a loop over a stream
    /// sees none.
    public var propagating: [TaskLocalPropagation]

    /// What runs around every handler, except those of a `forEach` that awaits nothing; the first one outermost.
    public var interceptors: [any Interceptor]

    /// Makes settings; what is not given is the default.
    ///
    /// - Parameters:
    ///   - executor: where handlers run.
    ///   - clock: the clock for deadlines.
    ///   - onIncident: called with each incident.
    ///   - slowAfter: how long a handler may run before it is reported as slow.
    ///   - propagating: the task-locals that notifications carry.
    ///   - interceptors: what runs around handlers, the first one outermost.
    public init(
      executor: (any TaskExecutor)? = nil, clock: any Clock<Duration> = ContinuousClock(),
      onIncident: @escaping @Sendable (Incident) -> Void = { $0.writeToStandardError() },
      slowAfter: Duration? = nil, propagating: [TaskLocalPropagation] = [],
      interceptors: [any Interceptor] = []
    ) {
      (self.executor, self.clock, self.onIncident) = (executor, clock, onIncident)
      (self.slowAfter, self.propagating) = (slowAfter, propagating)
      self.interceptors = interceptors
    }
  }
}

extension DelegateHub.Configuration {
  /// The watch for slow handlers; `nil` without ``slowAfter``, or if that time never comes.
  ///
  /// A ``slowAfter`` of zero or less stops the program.
  func makeSlowWatch(by deadlines: DeadlineQueue) -> SlowWatch? {
    guard let limit = slowAfter, limit < Deadline.farthest else { return nil }
    if limit <= .zero {
      fatalError(
        """
        DelegateHub.Configuration.slowAfter is \(limit), by which every handler would be slow. Set a \
        duration above zero, or nil for no watch.
        """)
    }
    return SlowWatch(limit: limit, deadlines: deadlines, propagating: propagating)
  }
}

extension DelegateHub.Incident {
  /// How many incidents came in the present second, which the first of them began (`lines`), and how many were not
  /// written (`leftOut`).
  ///
  /// Invariant: while `lines` is above 0, a task sleeps that sets both to 0 when the second is over.
  private static let log = Lock((lines: 0, leftOut: 0))

  /// Writes the incident to standard error as one line, as a hub does by default.
  ///
  /// It writes at most 20 lines a second, and at the second's end how many more incidents there were. If the program
  /// ends before that, this number is not written.
  ///
  /// **Isolation.** Works from any thread, for the incidents of all hubs.
  ///
  /// - Complexity: O(1).
  public func writeToStandardError() {
    let line = Self.log.withLock { [count = 1 + leftOut] log in
      log.lines += 1
      if log.lines > 20 { log.leftOut += count }
      return log.lines
    }
    if line > 20 { return }
    Platform.writeToStandardError("DelegateHub: \(self)\n")
    if line > 1 { return }
    Task.detached {
      // The sleep cannot throw: nobody cancels this task.
      try? await Task.sleep(for: .seconds(1))
      let count = Self.log.withLock { exchange(&$0, with: (0, 0)).leftOut }
      if count > 0 { Platform.writeToStandardError("DelegateHub: and \(count) more incidents\n") }
    }
  }
}
