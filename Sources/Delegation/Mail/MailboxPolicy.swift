extension DelegateHub {
  /// What becomes of notifications when they come faster than a subscriber handles them.
  ///
  /// A limit counts the notifications that wait, not the one being handled. Dropped notifications are counted, for the
  /// subscriber and for its protocol. A limit bounds the hub's memory even if the subscriber hangs, as long as the hub
  /// gets a thread, unless ``DelegateHub/Subscription/finish()`` was called while something waited.
  ///
  /// A full mailbox drops its oldest notification, whichever method it calls. So put methods whose calls must not be
  /// dropped into another protocol. When a mailbox begins to drop, the hub reports
  /// ``DelegateHub/Incident/Kind/dropped``, unless the limit is 1.
  ///
  /// ```swift
  /// hub.subscribe(dashboard, to: Telemetry.self, mailbox: .latest)
  /// ```
  public struct MailboxPolicy: Sendable, Hashable, CustomStringConvertible {
    /// How many notifications may wait; `nil` for any number.
    let limit: Int?
    /// After how many notifications the subscription ends; `nil` for no such end.
    var most: Int?

    /// Any number of notifications may wait.
    public static let unbounded = MailboxPolicy(limit: nil)

    /// At most a given number of notifications wait; if one more comes, the oldest is dropped.
    ///
    /// - Parameter limit: how many may wait; a limit below 1 stops the program when somebody subscribes.
    /// - Returns: the policy.
    public static func dropOldest(limit: Int) -> MailboxPolicy { MailboxPolicy(limit: limit) }

    /// Only the latest notification waits: ``dropOldest(limit:)`` with a limit of 1.
    ///
    /// Drops are counted, but not reported.
    public static let latest = dropOldest(limit: 1)

    /// The policy, as written in code.
    public var description: String {
      if self == .latest { return "latest" }
      guard let limit else { return "unbounded" }
      return "dropOldest(limit: \(limit))"
    }
  }
}
