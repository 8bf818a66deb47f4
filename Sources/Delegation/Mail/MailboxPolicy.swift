/// What becomes of notifications when they come faster than a subscriber handles them.
///
/// Those that wait are counted, the one being handled is not. Whatever is dropped is counted as
/// dropped, for the subscriber and for its protocol. A limit bounds the hub's memory even if the
/// subscriber hangs for ever.
///
/// ```swift
/// hub.subscribe(dashboard, to: Telemetry.self, mailbox: .latest)
/// ```
public enum MailboxPolicy: Sendable, Hashable {
  /// All of them wait.
  case unbounded
  /// At most `limit` wait; the oldest makes room. A limit below 1 stops the program.
  case dropOldest(limit: Int)
  /// At most `limit` wait; what comes then is dropped. A limit below 1 stops the program.
  case dropNewest(limit: Int)
  /// Only the latest one waits, as with `dropOldest(limit: 1)`.
  case latest

  /// How many may wait; `nil` for any number.
  var limit: Int? {
    switch self {
    case .unbounded: nil
    case .dropOldest(let limit), .dropNewest(let limit): limit
    case .latest: 1
    }
  }

  var dropsOldest: Bool {
    switch self {
    case .unbounded, .dropNewest: false
    case .dropOldest, .latest: true
    }
  }
}
