/// The pending notifications of a mailbox with a limit.
///
/// Such a mailbox takes notifications out of the chain as they are posted, so that it does not keep the
/// chain. A mailbox that once had a limit keeps its backlog, and the count of what it dropped.
///
/// Invariant: `stored` has no more elements than the limit. What was dropped is in `overflow` until it is released, and
/// counted in `dropped` for good.
struct Backlog: Sendable {
  private(set) var policy: DelegateHub.MailboxPolicy
  private(set) var dropped = 0
  /// How many of `dropped` have been reported.
  private var reported = 0
  /// Whether it has dropped something since nothing was pending.
  private var isDropping = false
  /// Whether it has begun to drop, and that has not been reported.
  private var isReportDue = false
  /// The number of the notification that was taken last, from here or from the chain.
  var latest: Int
  /// In the order in which they were posted.
  private var stored = Queue<(number: Int, content: Notification.Content)>()
  /// The dropped notifications, and those passed over, that have not been released yet.
  private var overflow: [Notification.Content] = []

  init(policy: DelegateHub.MailboxPolicy, after latest: Int = -1) {
    self.policy = policy
    self.latest = latest
  }

  var count: Int { stored.count }

  /// Adds the notification that was posted last; at the limit, it or the oldest one is dropped.
  ///
  /// - Parameters:
  ///   - content: the notification.
  ///   - number: its number.
  /// - Complexity: O(1), amortised.
  mutating func add(_ content: Notification.Content, number: Int) {
    let one = (number, content)
    guard let limit = policy.limit, stored.count >= limit else { return stored.append(one) }
    dropped += 1
    if !isDropping { isReportDue = true }
    isDropping = true
    if policy.dropsOldest, let oldest = stored.popFirst() {
      overflow.append(oldest.content)
      stored.append(one)
    } else {
      overflow.append(content)
    }
  }

  mutating func popFirst() -> Notification.Content? {
    guard let first = stored.popFirst() else { return nil }
    latest = first.number
    return first.content
  }

  /// - Complexity: O(log *n*) in the number of pending ones.
  func contains(_ number: Int) -> Bool {
    stored.contains(number) { $0.number }
  }

  /// Takes over the pending notifications of another backlog, before anything has been added to this one; the limit is
  /// kept by the next ``setPolicy(_:)``.
  mutating func takeOver(from other: inout Backlog) {
    swap(&overflow, &other.overflow)
    swap(&stored, &other.stored)
  }

  /// Changes the policy, also for the notifications that are pending already.
  mutating func setPolicy(_ policy: DelegateHub.MailboxPolicy) {
    self.policy = policy
    guard let limit = policy.limit, stored.count > limit else { return }
    for one in stored.takeAll() { add(one.content, number: one.number) }
  }

  /// How many were dropped since the last report, if it has begun to drop; otherwise 0.
  mutating func takeUnreportedDrops() -> Int {
    guard isReportDue else { return 0 }
    isReportDue = false
    defer { reported = dropped }
    return dropped - reported
  }

  /// Notes that nothing is pending any more: later drops are reported again.
  mutating func catchUp() {
    isDropping = false
  }

  /// Takes out what was dropped, for the caller to release outside the lock.
  mutating func takeOverflow() -> [Notification.Content] {
    guard !overflow.isEmpty else { return [] }
    defer { overflow = [] }
    return overflow
  }

  /// Takes out everything that waits or was dropped, for the caller to release outside the lock.
  mutating func takeAll() -> [Notification.Content] {
    takeOverflow() + stored.takeAll().map(\.content)
  }
}
