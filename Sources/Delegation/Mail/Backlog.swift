/// What waits in a mailbox with a limit.
///
/// Such a mailbox takes notifications out of the chain as they are posted, so that the chain is not kept
/// for its sake. One that had a limit once keeps its backlog, and the count of what it dropped.
///
/// Invariant: `stored` has no more elements than the limit; what was more than that is in `refuse`
/// until somebody releases it, and counted in `dropped` for good.
struct Backlog: Sendable {
  /// A notification that waits.
  struct Stored: Sendable {
    var number: Int
    var content: Notification.Content
  }

  private(set) var policy: DelegateHub.MailboxPolicy
  private(set) var dropped = 0
  /// How many of `dropped` have been told.
  private var told = 0
  /// It has dropped something since it last came to rest.
  private var isDropping = false
  /// It has begun to drop, and that has not been told.
  private var hasNews = false
  /// The number of the notification that was taken last, whether from here or from the chain.
  var latest = -1
  /// In the order in which they were posted.
  private var stored = Queue<Stored>()
  /// What was dropped and not yet released.
  private var refuse: [Notification.Content] = []

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
      refuse.append(oldest.content)
      stored.append(one)
    } else {
      refuse.append(content)
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
    refuse += lost.map(\.content)
    noteDropped(excess)
  }

  /// Takes over what waits elsewhere, before anything has been added here.
  mutating func takeOver(from other: inout Backlog) {
    stored = other.stored
    refuse = other.refuse
    other.stored = Queue()
    other.refuse = []
    setPolicy(policy)
  }

  private mutating func noteDropped(_ count: Int) {
    dropped += count
    if !isDropping { hasNews = true }
    isDropping = true
  }

  /// How many were dropped and have not been told, if it has just begun to drop; otherwise 0.
  mutating func takeDropped() -> Int {
    guard hasNews else { return 0 }
    hasNews = false
    defer { told = dropped }
    return dropped - told
  }

  /// Notes that the subscriber has nothing to do, be it for a moment: if nothing waits, what is dropped
  /// after that is told anew.
  mutating func cameToRest() {
    if stored.isEmpty { isDropping = false }
  }

  /// What was dropped since the last time, for the caller to release outside the lock.
  mutating func takeRefuse() -> [Notification.Content] {
    guard !refuse.isEmpty else { return [] }
    defer { refuse = [] }
    return refuse
  }

  /// All there is to release, for the caller to do so outside the lock.
  mutating func takeAll() -> [Notification.Content] {
    takeRefuse() + stored.takeAll().map(\.content)
  }
}
