/// One subscriber's place in its protocol's chain of notifications, and the account of those passed.
///
/// At most one worker *attends* a mailbox at a time: it takes a notification, runs the handler outside
/// the lock, reports how that went and gets the next. A worker that finds a mailbox attended leaves a
/// note and goes on; the attending one serves what the note stands for. So the subscriber handles one
/// notification at a time, in the chain's order, and no worker waits for another.
///
/// Invariant: whatever is posted and not taken is seen by a worker to come, either by the attending
/// one (it has a note, or has not reached its limit) or by the fan-out that the posting asked for.
struct Mailbox: Sendable {
  /// What became of a notification that was taken.
  enum Fate: Sendable {
    /// The handler returned.
    case handled
    /// The handler threw.
    case failed
    /// The handler was not called: the subscriber had died or its subscription had been closed.
    case skipped
  }

  /// What the attending worker does next.
  enum Step: Sendable {
    /// Run this one's handler, then report with ``advance(after:published:)``.
    case handle(Notification.Content)
    /// More came and another worker relied on this one: let others run first, then
    /// ``proceed(published:)``.
    case yield
    /// Nothing is left to do; the mailbox is no longer attended.
    case rest
  }

  /// The first notification of the chain that was not taken, or the placeholder; `nil` once closed.
  private var next: Notification?
  /// The number of `next`; once the subscription has ended, the number at which it did.
  private var position: Int
  /// The number at which the subscription began.
  private let start: Int
  private var handled = 0
  private var failed = 0
  /// The number of the notification whose handler is running, or -1.
  private var handledNumber = -1
  /// None, or one under a policy with a limit, which empties the chain each time it is touched.
  ///
  /// An array, so that it is a word with most mailboxes, and a value with all.
  private var backlog: [Backlog]
  /// How many more the attending worker takes before it pauses: a flood cannot hold it for ever.
  private var budget: Int32 = 0
  /// How the subscription ended; `nil` while it is open.
  private var ending: Termination?
  /// A worker is between taking a notification and reporting its fate, or about to take one.
  private var isAttended = false
  /// Another worker came by while the mailbox was attended.
  private var isCalledFor = false

  /// Whether a notification's handler is running, or about to.
  var isHandling: Bool { handledNumber >= 0 }

  /// Whether nothing will change any more.
  var isFinal: Bool { ending != nil && !isAttended }

  /// Starts at the end of the chain: what was posted before is for others.
  init(at placeholder: Notification, number: Int, policy: DelegateHub.MailboxPolicy = .unbounded) {
    self.init(at: placeholder, number: number, policy: policy, start: number)
  }

  // MARK: Attending

  /// Begins to attend the mailbox if something waits in it and no other worker does.
  ///
  /// - Parameter published: how many notifications had been posted while the subscription was open.
  /// - Returns: whether the caller now attends it, and goes on with ``proceed(published:)``.
  mutating func attend(published: Int) -> Bool {
    store(upTo: published)
    if isAttended {
      isCalledFor = true
      return false
    }
    guard ending == nil, hasMore(published) else { return false }
    isAttended = true
    return true
  }

  /// Begins a round of attendance, the first one or one after ``Step/yield``.
  ///
  /// - Parameter published: as with ``attend(published:)``.
  /// - Returns: what the attending worker does next.
  mutating func proceed(published: Int) -> Step {
    store(upTo: published)
    isCalledFor = false
    budget = Int32(clamping: waitingCount(published))
    if ending == nil, budget > 0, let content = take() { return .handle(content) }
    return rest()
  }

  /// Reports what became of the notification that was taken.
  ///
  /// - Parameters:
  ///   - fate: what became of it.
  ///   - published: as with ``attend(published:)``.
  /// - Returns: what the attending worker does next.
  mutating func advance(after fate: Fate, published: Int) -> Step {
    handledNumber = -1
    switch fate {
    case .handled: handled += 1
    case .failed: failed += 1
    case .skipped: break
    }
    if ending == nil, hasMore(published) {
      if budget > 0, let content = take() { return .handle(content) }
      // Without a note, the fan-out that brings what was posted since has yet to come by.
      if isCalledFor { return .yield }
    }
    return rest()
  }

  private mutating func rest() -> Step {
    isAttended = false
    if !backlog.isEmpty { backlog[0].cameToRest() }
    return .rest
  }

  private func waitingCount(_ published: Int) -> Int {
    storedCount + max(0, published - position)
  }

  private var storedCount: Int { backlog.isEmpty ? 0 : backlog[0].count }

  private func hasMore(_ published: Int) -> Bool { waitingCount(published) > 0 }

  private mutating func take() -> Notification.Content? {
    let content: Notification.Content?
    if !backlog.isEmpty, let first = backlog[0].popFirst() {
      handledNumber = first.number
      content = first.content
    } else {
      handledNumber = position
      content = takeFromChain()
    }
    budget -= 1
    return content
  }

  /// The last reference to a notification may go here, under the lock; its content and its successor
  /// live on in what is returned and in `next`, so no user's `deinit` can run.
  private mutating func takeFromChain() -> Notification.Content? {
    let content = next?.content
    next = next?.next
    position += 1
    return content
  }

  // MARK: Limits

  /// Changes what to do when notifications come faster than they are handled.
  ///
  /// - Parameters:
  ///   - policy: what to do; it holds for those that wait already.
  ///   - published: as with ``attend(published:)``.
  mutating func setPolicy(_ policy: DelegateHub.MailboxPolicy, published: Int) {
    if backlog.isEmpty {
      if policy != .unbounded { backlog = [Backlog(policy: policy)] }
    } else {
      backlog[0].setPolicy(policy)
    }
    store(upTo: published)
  }

  /// Under a policy with a limit, moves what was posted from the chain into the mailbox or drops it.
  mutating func store(upTo published: Int) {
    guard ending == nil, !backlog.isEmpty, backlog[0].policy.limit != nil else { return }
    while position < published {
      let number = position
      guard let content = takeFromChain() else { return }
      backlog[0].add(content, number: number)
    }
  }

  /// What was dropped since the last time, for the caller to let go outside the lock.
  mutating func takeRefuse() -> [Notification.Content] {
    backlog.isEmpty ? [] : backlog[0].takeRefuse()
  }

  /// How many were dropped, to be told if it has just begun to drop; otherwise 0.
  mutating func takeDropped() -> Int {
    backlog.isEmpty ? 0 : backlog[0].takeDropped()
  }

  // MARK: Ending

  /// What waited when a subscription ended, for the caller to let go outside the lock.
  struct Remains: Sendable {
    fileprivate(set) var stored: [Notification.Content] = []
    fileprivate var chain: Notification?
    fileprivate var length = 0

    /// Lets go of what waited, one by one, and passes the receipts.
    consuming func discard() {
      for content in stored { content.receipt?.pass() }
      var next = chain
      chain = nil
      for _ in 0..<length {
        next?.content?.receipt?.pass()
        next = next?.next
      }
    }
  }

  /// Ends the subscription: what waits will not be handled.
  ///
  /// - Parameters:
  ///   - number: how many notifications had been posted when the subscription ended.
  ///   - reason: how it ended.
  /// - Returns: what waited.
  mutating func close(at number: Int, as reason: Termination) -> Remains {
    guard ending == nil else { return Remains() }
    ending = reason
    defer {
      next = nil
      position = number
    }
    return Remains(
      stored: backlog.isEmpty ? [] : backlog[0].takeAll(), chain: next,
      length: max(0, number - position))
  }

  /// Ends this mailbox where it stands and gives what waits to a successor.
  mutating func handOver(policy: DelegateHub.MailboxPolicy) -> Mailbox? {
    guard ending == nil, let first = next else { return nil }
    let begin = position - storedCount
    var successor = Mailbox(at: first, number: position, policy: policy, start: begin)
    if !backlog.isEmpty {
      if successor.backlog.isEmpty { successor.backlog = [Backlog(policy: policy)] }
      successor.backlog[0].takeOver(from: &backlog[0])
    }
    ending = .cancelled
    position = begin
    next = nil
    return successor
  }

  private init(at first: Notification, number: Int, policy: DelegateHub.MailboxPolicy, start: Int) {
    next = first
    position = number
    self.start = start
    backlog = policy == .unbounded ? [] : [Backlog(policy: policy)]
  }

  // MARK: Looking in

  /// Whether a notification was addressed to this subscription and has not been passed.
  func owes(_ number: Int) -> Bool {
    if handledNumber == number { return true }
    guard ending == nil else { return false }
    return number >= position
      || !backlog.isEmpty && backlog[0].contains(number)
  }

  /// The account of this subscription when that many notifications have been posted.
  func account(published: Int) -> Account {
    var account = Account()
    account.handled = handled
    account.failed = failed
    account.dropped = backlog.isEmpty ? 0 : backlog[0].dropped
    account.handling = isHandling ? 1 : 0
    let settled = handled + failed + account.dropped + account.handling
    guard let ending else {
      account.waiting = published - start - settled
      return account
    }
    let lost = position - start - settled
    switch ending {
    case .cancelled: account.cancelled = lost
    case .expired: account.expired = lost
    }
    return account
  }
}
