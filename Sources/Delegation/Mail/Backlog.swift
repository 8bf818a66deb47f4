/// What waits in a mailbox with a limit.
///
/// Such a mailbox takes notifications out of the chain as they are posted, so that the chain is not kept
/// for its sake. One that had a limit once keeps its backlog, and the count of what it dropped.
///
/// Invariant: `stored` has no more elements than the limit; what was more than that is in `overflow`
/// until somebody releases it, and counted in `dropped` for good.
struct Backlog: Sendable {
  /// A notification that waits.
  struct Stored: Sendable {
    var number: Int
    var content: Notification.Content
  }

  private(set) var policy: DelegateHub.MailboxPolicy
  private(set) var dropped = 0
  /// How many of `dropped` have been reported.
  private var reported = 0
  /// It has dropped something since it last came to rest.
  private var isDropping = false
  /// It has begun to drop, and that has not been reported.
  private var isReportDue = false
  /// The number of the notification that was taken last, whether from here or from the chain.
  var latest = -1
  /// In the order in which they were posted.
  private var stored = Queue<Stored>()
  /// What was dropped and not yet released.
  private var overflow: [Notification.Content] = []

  init(policy: DelegateHub.MailboxPolicy) {
    self.policy = policy
  }

  var count: Int { stored.count }

  /// Adds the notification posted last, for which another one may be dropped.
  ///
  /// - Complexity: O(1), amortised.
  mutating func add(_ content: Notification.Content, number: Int) {
    let one = Stored(number: number, content: content)
    guard let limit = policy.limit, stored.count >= limit else { return stored.append(one) }
    noteDropped(1)
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

  func contains(_ number: Int) -> Bool {
    stored.contains { $0.number == number }
  }

  /// Changes the limit; it holds for those that wait already.
  mutating func setPolicy(_ policy: DelegateHub.MailboxPolicy) {
    self.policy = policy
    guard let limit = policy.limit, stored.count > limit else { return }
    let waiting = stored.takeAll()
    let excess = waiting.count - limit
    let kept = policy.dropsOldest ? waiting.suffix(limit) : waiting.prefix(limit)
    let lost = policy.dropsOldest ? waiting.prefix(excess) : waiting.suffix(excess)
    for one in kept { stored.append(one) }
    overflow += lost.map(\.content)
    noteDropped(excess)
  }

  /// Takes over what waits elsewhere, before anything has been added here.
  mutating func takeOver(from other: inout Backlog) {
    stored = other.stored
    overflow = other.overflow
    other.stored = Queue()
    other.overflow = []
    setPolicy(policy)
  }

  private mutating func noteDropped(_ count: Int) {
    dropped += count
    if !isDropping { isReportDue = true }
    isDropping = true
  }

  /// How many were dropped and have not been reported, if it has just begun to drop; otherwise 0.
  mutating func takeUnreportedDrops() -> Int {
    guard isReportDue else { return 0 }
    isReportDue = false
    defer { reported = dropped }
    return dropped - reported
  }

  /// Notes that the subscriber has nothing to do, be it for a moment: if nothing waits, what is dropped
  /// after that is reported anew.
  mutating func becameIdle() {
    if stored.isEmpty { isDropping = false }
  }

  /// What was dropped since the last time, for the caller to release outside the lock.
  mutating func takeOverflow() -> [Notification.Content] {
    guard !overflow.isEmpty else { return [] }
    defer { overflow = [] }
    return overflow
  }

  /// All there is to release, for the caller to do so outside the lock.
  mutating func takeAll() -> [Notification.Content] {
    takeOverflow() + stored.takeAll().map(\.content)
  }
}
