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
    /// Where the hub's work and the handlers of its subscribers run; `nil` for the default.
    public var executor: (any TaskExecutor)?

    /// The clock that deadlines go by.
    public var clock: any Clock<Duration>

    /// Called with whatever goes wrong and no caller is told: handlers that throw, are late or slow,
    /// mailboxes that drop, subscribers that die unheard.
    ///
    /// **Order.** One incident at a time, in the order in which they were found.
    ///
    /// **Isolation.** It runs in a task of its own on ``executor``, on no actor and under no lock, and
    /// may call the hub. It holds up no call, handler or poster, even if it blocks, as long as the
    /// executor has a thread left; ``DelegateHub/drain(within:)`` waits for it. Of the incidents that
    /// come while 256 wait, only the number is kept; see ``Incident/leftOut``.
    ///
    /// The default is ``Incident/writeToStandardError()``.
    public var onIncident: @Sendable (Incident) -> Void

    /// How long a handler may run before it is an incident; see ``Incident/Kind/slow``.
    ///
    /// `nil`, the default, for no such watch. A duration of zero or less stops the program when the hub
    /// is made. It goes by ``clock``; a slow handler is noticed before it has run for twice this time.
    public var slowAfter: Duration?

    /// The task-locals that notifications carry from whoever posts them to the handlers.
    ///
    /// Without being named here no task-local reaches a handler of a notification. Votes and their
    /// kin carry all of the caller's in any case.
    public var propagating: [TaskLocalPropagation]

    /// Makes settings; what is not given is the default.
    ///
    /// - Parameters:
    ///   - executor: where the hub's work and the handlers of its subscribers run.
    ///   - clock: the clock that deadlines go by.
    ///   - onIncident: called with whatever goes wrong and no caller is told.
    ///   - slowAfter: how long a handler may run before it is an incident.
    ///   - propagating: the task-locals that notifications carry.
    public init(
      executor: (any TaskExecutor)? = nil,
      clock: any Clock<Duration> = ContinuousClock(),
      onIncident: @escaping @Sendable (Incident) -> Void = { $0.writeToStandardError() },
      slowAfter: Duration? = nil,
      propagating: [TaskLocalPropagation] = []
    ) {
      self.executor = executor
      self.clock = clock
      self.onIncident = onIncident
      self.slowAfter = slowAfter
      self.propagating = propagating
    }
  }

  /// The watch that a configuration asks for.
  static func makeSlowWatch(_ configuration: Configuration) -> SlowWatch? {
    guard let limit = configuration.slowAfter, limit < Deadline.farthest else { return nil }
    if limit <= .zero {
      fatalError(
        """
        DelegateHub.Configuration.slowAfter is \(limit), by which every handler would be slow. Set a \
        duration above zero, or nil for no watch.
        """)
    }
    return SlowWatch(
      after: limit, on: configuration.clock, executor: handlerExecutor(for: configuration.executor)
    ) { node, call in
      node.report(.slow, in: call)
    }
  }

  /// Where a configuration's deadlines come; `nil` for the default.
  ///
  /// Real time is kept apart from the hub's executor, which may be busy. Any other clock is a test's:
  /// then the executor runs all of the hub, so that a test has the last word on what happens when.
  static func deadlinesExecutor(of configuration: Configuration) -> (any TaskExecutor)? {
    let clock = configuration.clock
    if clock is ContinuousClock || clock is SuspendingClock { return nil }
    return handlerExecutor(for: configuration.executor)
  }

  /// What sets the deadlines that a configuration's clock goes by.
  static func makeDeadlines(
    _ configuration: Configuration, on executor: (any TaskExecutor)?
  ) -> any DeadlineSource {
    func source<C: Clock<Duration>>(_ clock: C) -> any DeadlineSource {
      DeadlineQueue(clock: clock, executor: executor)
    }
    return source(configuration.clock)
  }
}
