/// What becomes of notifications when they come faster than a subscriber handles them.
public enum MailboxPolicy: Sendable, Hashable {
  /// All of them wait.
  case unbounded
}
