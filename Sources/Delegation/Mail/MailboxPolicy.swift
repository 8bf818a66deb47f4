extension DelegateHub {
  /// What becomes of notifications when they come faster than a subscriber handles them.
  ///
  /// A limit counts the notifications that wait, and not the one that is being handled. Dropped
  /// notifications are counted, for the subscriber and for its protocol. A limit bounds the hub's
  /// memory even if the subscriber hangs for ever.
  ///
  /// ```swift
  /// hub.subscribe(dashboard, to: Telemetry.self, mailbox: .latest)
  /// ```
  public struct MailboxPolicy: Sendable, Hashable, CustomStringConvertible {
    private enum Code: Hashable {
      case unbounded
      case dropOldest(limit: Int)
      case dropNewest(limit: Int)
      case latest
    }

    private let code: Code

    /// All of them wait.
    public static let unbounded = MailboxPolicy(code: .unbounded)

    /// At most a given number of them wait; if one more comes, the oldest is dropped.
    ///
    /// - Parameter limit: how many may wait; below 1 it stops the program when somebody subscribes.
    /// - Returns: the policy.
    public static func dropOldest(limit: Int) -> MailboxPolicy {
      MailboxPolicy(code: .dropOldest(limit: limit))
    }

    /// At most a given number of them wait; if one more comes, it is dropped.
    ///
    /// - Parameter limit: how many may wait; below 1 it stops the program when somebody subscribes.
    /// - Returns: the policy.
    public static func dropNewest(limit: Int) -> MailboxPolicy {
      MailboxPolicy(code: .dropNewest(limit: limit))
    }

    /// Only the latest one waits, as with ``dropOldest(limit:)`` and a limit of 1.
    public static let latest = MailboxPolicy(code: .latest)

    /// The policy, as one writes it.
    public var description: String { "\(code)" }

    /// How many may wait; `nil` for any number.
    var limit: Int? {
      switch code {
      case .unbounded: nil
      case .dropOldest(let limit), .dropNewest(let limit): limit
      case .latest: 1
      }
    }

    var dropsOldest: Bool {
      switch code {
      case .unbounded, .dropNewest: false
      case .dropOldest, .latest: true
      }
    }
  }
}
