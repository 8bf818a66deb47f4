/// The pending notifications of a mailbox with a limit.
///
/// Such a mailbox takes notifications out of the chain as they are posted, so that it does not keep the
/// chain. A mailbox that once had a limit keeps its backlog, and the count of what it dropped.
///
/// Invariant: `stored` has no more elements than the limit, and one that was put back. What was dropped is in
/// `overflow` until it is released, and counted in `dropped` for good. What is in `inherited` is older than all of
/// `stored`, of which there is none as long as there is a limit.
struct Backlog: Sendable {
  /// A pending notification.
  struct Stored: Sendable {
    var number: Int
    var content: Notification.Content
  }

  private(set) var policy: DelegateHub.MailboxPolicy
  private(set) var dropped = 0
  /// How many of `dropped` have been reported.
  private var reported = 0
  /// Whether it has dropped something since nothing was pending.
  private var isDropping = false
  /// Whether it has begun to drop, and that has not been reported.
  private var isReportDue = false
  /// The number of the notification that was taken last, from here or from the chain.
  var latest = -1
  /// In the order in which they were posted.
  private var stored = Queue<Stored>()
  /// What was taken over under a limit, until it is known which of it is for the subscriber.
  private(set) var inherited = Queue<Stored>()
  /// Whether the subscriber conforms to further protocols, as far as that was looked up.
  var conformances: [ObjectIdentifier: Bool] = [:]
  /// What has to be looked up next.
  var doubt: Narrowing?
  /// The dropped notifications, and those passed over, that have not been released yet.
  private var overflow: [Notification.Content] = []

  init(policy: DelegateHub.MailboxPolicy) {
    self.policy = policy
  }

  var count: Int { inherited.count + stored.count }

  /// Adds the notification that was posted last; at the limit, it or the oldest one is dropped.
  ///
  /// - Parameters:
  ///   - content: the notification.
  ///   - number: its number.
  ///   - isKept: whether it is for the subscriber; if not, it is only to be released.
  /// - Complexity: O(1), amortised.
  mutating func add(_ content: Notification.Content, number: Int, keeping isKept: Bool = true) {
    if !isKept { return overflow.append(content) }
    let one = Stored(number: number, content: content)
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

  /// Takes the oldest of what was taken over, to keep it or to release it.
  ///
  /// - Returns: how many are not kept.
  mutating func takeInherited(keeping isKept: Bool) -> Int {
    guard let one = inherited.popFirst() else { return 0 }
    add(one.content, number: one.number, keeping: isKept)
    return isKept ? 0 : 1
  }

  mutating func popFirst() -> Notification.Content? {
    guard let first = inherited.popFirst() ?? stored.popFirst() else { return nil }
    latest = first.number
    return first.content
  }

  /// Puts back the notification that was taken last.
  ///
  /// - Complexity: O(*n*) in the number of pending ones.
  mutating func putBack(_ content: Notification.Content, number: Int) {
    let rest = inherited.takeAll() + stored.takeAll()
    for one in [Stored(number: number, content: content)] + rest { stored.append(one) }
  }

  /// - Complexity: O(log *n*) in the number of pending ones.
  func contains(_ number: Int) -> Bool {
    stored.contains(number, by: \.number) || inherited.contains(number, by: \.number)
  }

  /// Changes the policy, also for the notifications that are pending already.
  mutating func setPolicy(_ policy: DelegateHub.MailboxPolicy) {
    self.policy = policy
    guard let limit = policy.limit, stored.count > limit else { return }
    for one in stored.takeAll() { add(one.content, number: one.number) }
  }

  /// Takes over the pending notifications of another backlog, before anything has been added to this one.
  mutating func takeOver(from other: inout Backlog) {
    swap(&overflow, &other.overflow)
    swap(&inherited, &other.inherited)
    // As a whole: very many may wait.
    if inherited.isEmpty { swap(&inherited, &other.stored) }
    for one in other.stored.takeAll() { inherited.append(one) }
    let isNarrowed = inherited.all.contains { $0.content.handler.narrowing != nil }
    if policy.limit != nil, isNarrowed { return }
    swap(&inherited, &stored)
    setPolicy(policy)
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

  /// Takes out everything, for the caller to release outside the lock.
  mutating func takeAll() -> [Notification.Content] {
    takeOverflow() + (inherited.takeAll() + stored.takeAll()).map(\.content)
  }
}
