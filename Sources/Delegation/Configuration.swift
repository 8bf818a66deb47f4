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

    /// Makes the default settings.
    public init() {}

    private static func writeToStandardError(_ line: String) {
      let bytes = Array((line.replacing("\n", with: " ") + "\n").utf8)
      // A diagnostic that cannot be written has nowhere else to go.
      _ = write(STDERR_FILENO, bytes, bytes.count)
    }
  }

  /// Tells the user of a notification's failure.
  nonisolated func report(_ error: any Error, in node: SubscriptionNode) {
    configuration.onFailure(node.description, node.site.description, error)
  }
}
