/// One subscriber's place in its protocol's chain of notifications, and the account of those passed.
///
/// At most one worker *attends* a mailbox at a time: it takes a notification, runs the handler outside
/// the lock, reports how that went and gets the next. A worker that finds a mailbox attended leaves a
/// note and goes on; the attending one serves what the note stands for. So the subscriber handles one
/// notification at a time, in the chain's order, and no worker waits for another.
///
/// Invariant: whatever is posted and not taken is seen by a worker to come, either by the attending
/// one (it has a note, or has not reached its limit) or by the fan-out that the posting asked for; or,
/// if the mailbox is kept shut, by the worker that is asked for when it is opened.
///
/// `published` is everywhere how many notifications had been posted while the subscription was open. It
/// is `nil` once calls are forbidden: then nothing more is taken, for a successor may be on its way that
/// is to have it.
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
    /// The rest is to be handled elsewhere: leave the mailbox, which stays attended, to a worker on the
    /// executor that the subscription has now, which begins with ``proceed(published:)``.
    case relocate
    /// Nothing is left to do; the mailbox is no longer attended.
    case rest
  }

  /// What is going on with a mailbox.
  struct Flags: OptionSet, Sendable {
    let rawValue: UInt8

    /// A worker is between taking a notification and reporting its fate, or about to take one.
    static let attended = Flags(rawValue: 1)
    /// Another worker came by while nobody could begin.
    static let calledFor = Flags(rawValue: 2)
    /// A notification's handler is running, or about to.
    static let handling = Flags(rawValue: 4)
    /// The executor has changed since the attending worker began.
    static let relocated = Flags(rawValue: 8)
    /// Shut until the object's former subscription has come to rest.
    static let held = Flags(rawValue: 16)
    /// Shut until what waited for the predecessor has been handed over.
    static let expectant = Flags(rawValue: 32)
    /// It was succeeded before it had what its own predecessor left: that is for the successor, too.
    static let passesOn = Flags(rawValue: 64)

    static let shut: Flags = [.held, .expectant]
  }

  /// The first notification of the chain that was not taken, or the placeholder; `nil` once terminated.
  var next: Notification?
  /// The number of `next`; once terminated, what it was then.
  var position: Int
  /// How much less than `position` is as many as were addressed to the subscription and do not wait: the
  /// number at which it began, until it inherits or ends.
  var start: Int
  private var handled = 0
  private var failed = 0
  /// None, or one under a policy with a limit, which empties the chain each time it is touched.
  ///
  /// An array, so that it is a word with most mailboxes, and a value with all.
  var backlog: [Backlog]
  /// How many more the attending worker takes before it pauses: a flood cannot hold it for ever.
  private var budget: Int32 = 0
  /// How the subscription ended; `nil` while it is open.
  var ending: Termination?
  var flags: Flags

  /// Whether a notification's handler is running, or about to.
  var isHandling: Bool { flags.contains(.handling) }

  /// The number of the notification whose handler is running, if one is.
  private var handledNumber: Int? {
    guard isHandling else { return nil }
    return backlog.isEmpty ? position - 1 : backlog[0].latest
  }

  /// Whether what was addressed to the subscription is accounted for, but for what is being handled.
  var isSettled: Bool { ending != nil && !flags.contains(.expectant) }

  /// Whether nothing will change any more.
  var isFinal: Bool { isSettled && !flags.contains(.attended) }

  /// Starts at the end of the chain: what was posted before is for others.
  ///
  /// - Parameters:
  ///   - placeholder: the end of the chain.
  ///   - number: how many notifications have been posted.
  ///   - policy: what to do when notifications come faster than they are handled.
  ///   - flags: what the mailbox is kept shut for, if anything.
  init(
    at placeholder: Notification, number: Int, policy: DelegateHub.MailboxPolicy = .unbounded,
    flags: Flags = []
  ) {
    next = placeholder
    position = number
    start = number
    backlog = policy == .unbounded ? [] : [Backlog(policy: policy)]
    self.flags = flags
  }

  // MARK: Attending

  /// Begins to attend the mailbox if something waits in it and no other worker does.
  ///
  /// - Parameter published: how many notifications had been posted while the subscription was open.
  /// - Returns: whether the caller now attends it, and goes on with ``proceed(published:)``.
  mutating func attend(published: Int?) -> Bool {
    guard ending == nil, let published else { return false }
    store(upTo: published)
    if !flags.isDisjoint(with: Flags.shut.union(.attended)) {
      flags.insert(.calledFor)
      return false
    }
    guard hasMore(published) else { return false }
    flags.insert(.attended)
    return true
  }

  /// Begins a round of attendance, the first one or one after ``Step/yield`` or ``Step/relocate``.
  ///
  /// - Parameter published: as with ``attend(published:)``.
  /// - Returns: what the attending worker does next.
  mutating func proceed(published: Int?) -> Step {
    guard ending == nil, let published else { return rest() }
    store(upTo: published)
    guard hasMore(published) else { return rest() }
    if flags.remove(.relocated) != nil { return .relocate }
    flags.remove(.calledFor)
    budget = Int32(clamping: waitingCount(published))
    return take().map(Step.handle) ?? rest()
  }

  /// Reports what became of the notification that was taken.
  ///
  /// - Parameters:
  ///   - fate: what became of it.
  ///   - published: as with ``attend(published:)``.
  /// - Returns: what the attending worker does next.
  mutating func advance(after fate: Fate, published: Int?) -> Step {
    flags.remove(.handling)
    switch fate {
    case .handled: handled += 1
    case .failed: failed += 1
    case .skipped: break
    }
    guard ending == nil, let published, hasMore(published) else { return rest() }
    if flags.remove(.relocated) != nil { return .relocate }
    if budget > 0, let content = take() { return .handle(content) }
    // Without a note, the fan-out that brings what was posted since has yet to come by.
    return flags.contains(.calledFor) ? .yield : rest()
  }

  /// Learns that the subscription has another executor: what the attending worker has not taken is to
  /// be handled there.
  mutating func relocate() {
    if flags.contains(.attended) { flags.insert(.relocated) }
  }

  private mutating func rest() -> Step {
    flags.subtract([.attended, .relocated])
    if !backlog.isEmpty { backlog[0].cameToRest() }
    return .rest
  }

  private func waitingCount(_ published: Int) -> Int {
    storedCount + max(0, published - position)
  }

  var storedCount: Int { backlog.isEmpty ? 0 : backlog[0].count }

  func hasMore(_ published: Int) -> Bool { waitingCount(published) > 0 }

  private mutating func take() -> Notification.Content? {
    budget -= 1
    flags.insert(.handling)
    guard !backlog.isEmpty else { return takeFromChain() }
    if let first = backlog[0].popFirst() { return first }
    backlog[0].latest = position
    return takeFromChain()
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
  /// - Parameter policy: what to do; it holds for those that wait already, once they have been stored.
  mutating func setPolicy(_ policy: DelegateHub.MailboxPolicy) {
    if backlog.isEmpty {
      if policy == .unbounded { return }
      backlog = [Backlog(policy: policy)]
      backlog[0].latest = position - 1
    } else {
      backlog[0].setPolicy(policy)
    }
  }

  /// Under a policy with a limit, moves what was posted from the chain into the mailbox or drops it.
  ///
  /// - Parameters:
  ///   - published: as with ``attend(published:)``.
  ///   - most: how many to move at most.
  /// - Returns: whether all has been moved that was to be.
  @discardableResult
  mutating func store(upTo published: Int, atMost most: Int = .max) -> Bool {
    guard ending == nil, !backlog.isEmpty, backlog[0].policy.limit != nil,
      !flags.contains(.expectant)
    else { return true }
    let count = min(max(0, published - position), most)
    for _ in 0..<count {
      let number = position
      guard let content = takeFromChain() else { return true }
      backlog[0].add(content, number: number)
    }
    return position >= published
  }

  /// What was dropped since the last time, for the caller to release outside the lock.
  mutating func takeRefuse() -> [Notification.Content] {
    backlog.isEmpty ? [] : backlog[0].takeRefuse()
  }

  /// How many were dropped, to be told if it has just begun to drop; otherwise 0.
  mutating func takeDropped() -> Int {
    backlog.isEmpty ? 0 : backlog[0].takeDropped()
  }

  // MARK: Ending

  /// Ends the subscription: what waits will not be handled.
  ///
  /// - Parameters:
  ///   - number: how many notifications had been posted when the subscription ended.
  ///   - reason: how it ended.
  /// - Returns: what waited.
  mutating func terminate(at number: Int, as reason: Termination) -> Remains {
    guard ending == nil else { return Remains() }
    ending = reason
    defer { next = nil }
    let length = max(0, number - position)
    start -= length
    return Remains(
      stored: backlog.isEmpty ? [] : backlog[0].takeAll(), chain: next, first: position,
      length: length)
  }

  // MARK: Looking in

  /// Whether a notification was addressed to this subscription and has not been passed.
  func owes(_ number: Int) -> Bool {
    if handledNumber == number { return true }
    guard ending == nil else { return false }
    // What it expects may be among it.
    return flags.contains(.expectant) || number >= position
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
