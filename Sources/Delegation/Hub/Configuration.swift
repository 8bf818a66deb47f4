#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

extension DelegateHub {
  /// A hub's settings.
  ///
  /// ```swift
  /// var configuration = DelegateHub.Configuration()
  /// configuration.onFailure = { subscriber, site, error in
  ///   logger.error("\(subscriber), subscribed at \(site), failed: \(error)")
  /// }
  /// let hub = DelegateHub(configuration)
  /// ```
  public struct Configuration: Sendable {
    /// Where the hub's work and the handlers of its subscribers run; `nil` for the default.
    public var executor: (any TaskExecutor)?

    /// The clock that deadlines go by.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// Called when a handler of a notification threw, with a description of the subscriber, the place
    /// in the source where it subscribed, and the error.
    ///
    /// **Isolation.** It runs on the worker that ran the handler, on no actor and under no lock, and
    /// may call the hub. The default writes one line to standard error.
    public var onFailure:
      @Sendable (_ subscriber: String, _ site: String, _ error: any Error) -> Void = {
        Self.writeToStandardError("DelegateHub: \($0), subscribed at \($1), failed: \($2)")
      }

    /// How long a handler may run before it is told to ``onSlow``.
    ///
    /// `nil`, the default, for no such watch. A duration of zero or less stops the program when the hub
    /// is made. It goes by ``clock``; a slow handler is noticed before it has run for twice this time.
    public var slowAfter: Duration?

    /// Called once for a handler that is running for longer than ``slowAfter``, while it runs, with a
    /// description of the subscriber and the place in the source where it subscribed.
    ///
    /// **Isolation.** It runs on no actor and under no lock, and may call the hub. The default writes
    /// one line to standard error.
    public var onSlow: @Sendable (_ subscriber: String, _ site: String) -> Void = {
      Self.writeToStandardError("DelegateHub: \($0), subscribed at \($1), is slow")
    }

    /// The task-locals that notifications carry from whoever posts them to the handlers.
    ///
    /// Without being named here no task-local reaches a handler of a notification. Votes and their
    /// kin carry all of the caller's in any case.
    public var propagating: [TaskLocalPropagation] = []

    /// Makes the default settings.
    public init() {}

    private static func writeToStandardError(_ line: String) {
      let bytes = Array((line.replacing("\n", with: " ") + "\n").utf8)
      // A diagnostic that cannot be written has nowhere else to go.
      _ = write(STDERR_FILENO, bytes, bytes.count)
    }
  }

  /// The watch that a configuration asks for.
  static func makeSlowWatch(_ configuration: Configuration) -> SlowWatch? {
    guard let limit = configuration.slowAfter else { return nil }
    if limit <= .zero {
      fatalError(
        """
        DelegateHub.Configuration.slowAfter is \(limit), by which every handler would be slow. Set a \
        duration above zero, or nil for no watch.
        """)
    }
    return SlowWatch(
      after: limit, on: configuration.clock, executor: handlerExecutor(for: configuration.executor)
    ) {
      node in
      configuration.onSlow(node.description, node.site.description)
    }
  }

  /// What sets the deadlines that a configuration's clock goes by.
  ///
  /// Real time is kept apart from the hub's executor, which may be busy. Any other clock is a test's:
  /// then the executor runs all of the hub, so that a test has the last word on what happens when.
  static func makeDeadlines(_ configuration: Configuration) -> any DeadlineSource {
    func source<C: Clock<Duration>>(_ clock: C) -> any DeadlineSource {
      let isReal = clock is ContinuousClock || clock is SuspendingClock
      return DeadlineQueue(
        clock: clock, executor: isReal ? nil : handlerExecutor(for: configuration.executor))
    }
    return source(configuration.clock)
  }

  /// Tells the user of a notification's failure.
  @usableFromInline
  nonisolated func report(_ error: any Error, in node: SubscriptionNode) {
    configuration.onFailure(node.description, node.site.description, error)
  }
}
