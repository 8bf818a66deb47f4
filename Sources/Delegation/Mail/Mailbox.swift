/// How far one subscription is in its protocol's chain of notifications, and what became of those before.
///
/// At most one worker *attends* a mailbox at a time: it takes a notification, runs the handler outside the lock,
/// reports the result and takes the next. A worker that finds a mailbox attended sets ``Flags/recheck`` and goes on to
/// other subscriptions. When the attending worker leaves and something is pending, it requests another worker.
///
/// Invariant: some worker will see each notification that is posted and not taken: the attending worker (`recheck` is
/// set, or its budget is not used up), a worker of the delivery that the post requested, or, if the mailbox is
/// *queued*, a worker of its executor's delivery, or its stream's loop. For notifications that were taken over or are
/// replayed, a worker is requested at once. For a mailbox that *follows* a replaced one, a worker is requested when the
/// replaced one's worker has left or the replaced subscription is cancelled.
///
/// An optional parameter `published` is how many notifications the topic has had, up to the mailbox's `end`. It is
/// `nil` once the subscription's termination has begun: then no worker takes more, because a replacement may take over
/// what is left.
struct Mailbox: Sendable {
  /// The chain's first notification that is not taken or dropped, or the placeholder; `nil` after termination.
  var next: Notification?
  /// The number of `next`; it does not change after termination.
  var position: Int
  /// `position - start` is how many notifications were addressed to the subscription and are not pending.
  ///
  /// At first `start` is the number of the subscription's first notification. A termination lowers it by how many are
  /// pending, a question to a stream by one.
  var start: Int
  /// How many notifications had been posted when the subscription began; no poster waits here for earlier ones, which
  /// are replayed.
  ///
  /// A replacement takes this number over.
  var joined: Int
  private var handled = 0
  private var failed = 0
  private var passedOver = 0
  private var dropped = 0
  /// How many of `dropped` need no report any more.
  private var reported = 0
  /// How many notifications may wait at most.
  let limit: Int
  /// The number of the first notification that will not be handled, because the subscription ends before it.
  var end: Int
  /// Why the subscription was terminated; `nil` before.
  var termination: Termination?
  var flags: Flags = []
  /// How many more notifications the attending worker takes before it leaves, so that a flood cannot keep it.
  private var budget: Int32 = 0

  /// The number of the notification *in hand*: its handler is running or about to run, or a stream's loop has it; -1 if
  /// none is.
  private(set) var inHand = -1

  var isHandling: Bool { inHand >= 0 }

  /// Whether `end` is set: the subscription ends at that notification.
  var isFinishing: Bool { end != .max }

  /// Whether no notification before `end` waits, and none is in hand.
  var isOver: Bool { position >= end && !isHandling }

  /// Whether the mailbox was terminated: what was pending was discarded, or handed over to a replacement.
  var hasEnded: Bool { termination != nil && next == nil }

  /// Makes a mailbox that begins at a notification of the chain, or its placeholder; `number` is that notification's
  /// number.
  init(at placeholder: Notification, number: Int, policy: DelegateHub.MailboxPolicy = .unbounded) {
    (next, position, start, joined) = (placeholder, number, number, number)
    limit = policy.limit ?? .max
    end = policy.most.map { number + $0 } ?? .max
    if policy.most != nil { flags = .endsForGood }
  }

  // MARK: Attending

  /// How many notifications a worker handles in a row: more would keep a thread, an event loop or a queue from other
  /// work for too long.
  static let mostHandledAtOnce = 256

  /// Sets a flag, to attend the mailbox or queue it, if a notification is pending; if the mailbox is
  /// ``Flags/occupied``, sets only ``Flags/recheck``.
  ///
  /// - Parameters:
  ///   - published: see ``Mailbox``.
  ///   - flag: `attended` or `queued`.
  /// - Returns: whether the flag was set; a worker that attends goes on with ``proceed(published:taking:)``.
  mutating func attend(published: Int?, as flag: Flags = .attended) -> Bool {
    guard termination == nil, let published else { return false }
    if !flags.isDisjoint(with: .occupied) {
      flags.insert(.recheck)
      return false
    }
    guard published > position else { return false }
    flags.insert(flag)
    return true
  }

  /// Takes the first pending notification, for a worker that begins to attend; leaves if there is none.
  ///
  /// - Parameters:
  ///   - published: see ``Mailbox``.
  ///   - most: how many notifications the worker takes before it leaves.
  /// - Returns: what the attending worker does next.
  mutating func proceed(published: Int?, taking most: Int = mostHandledAtOnce) -> Step {
    guard termination == nil, let published, published > position else { return leave() }
    // A delivery comes to a mailbox once: if more than `most` wait, `recheck` has the leaving worker request another.
    if published - position > most { flags.insert(.recheck) } else { flags.remove(.recheck) }
    budget = Int32(min(most, published - position))
    if let content = take() { return .handle(content) }
    return leave()
  }

  /// Counts what became of the notification in hand, and takes the next one or leaves.
  @inline(__always)
  mutating func advance(after fate: Notification.Fate, published: Int?) -> Step {
    inHand = -1
    switch fate {
    case .handled: handled += 1
    case .failed: failed += 1
    case .passedOver, .notAddressed: passedOver += 1
    // Not counted: `account` derives the expired ones from the other numbers.
    case .expired: break
    }
    guard termination == nil, let published, published > position else { return leave() }
    if budget > 0, let content = take() { return .handle(content) }
    // Without `recheck`, a delivery of what is pending has yet to come to this mailbox.
    return leave(as: flags.contains(.recheck) ? .more : .done, isCaughtUp: false)
  }

  /// Counts a question that comes to a stream as a notification that was passed over.
  mutating func passOverQuestion() {
    start -= 1
    passedOver += 1
  }

  private mutating func leave(as step: Step = .done, isCaughtUp: Bool = true) -> Step {
    flags.remove(.attended)
    if isCaughtUp { flags.remove(.dropping) }
    return isOver ? .over : step
  }

  /// Puts the next notification in hand.
  ///
  /// The notification's last reference may be released here, under the lock. No user's `deinit` can run then, because
  /// the content is returned, and `next` retains the notification after it.
  private mutating func take() -> Notification.Content? {
    budget -= 1
    inHand = position
    var content = next?.content
    // No poster waits here for a replayed notification.
    if position < joined { content?.receipt = nil }
    next = next?.next
    position += 1
    return content
  }

  // MARK: Dropping

  /// At most so many notifications are dropped in one section of the lock.
  static let mostDroppedAtOnce = 4096

  /// Whether something may have to be dropped: more notifications wait than `limit` allows, or `end` is reached.
  @inline(__always)
  func mustDrop(published: Int?) -> Bool {
    guard let published else { return false }
    return published - position > limit || position >= end
  }

  /// Drops the oldest notifications, if more wait than `limit` allows.
  ///
  /// - Returns: what was dropped, if anything. If ``mostDroppedAtOnce`` were, there may be more to drop.
  mutating func dropOldest(published: Int?) -> Remains? {
    guard let published, published - position > limit, termination == nil else { return nil }
    let count = min(published - position - limit, Self.mostDroppedAtOnce)
    dropped += count
    if flags.insert(.dropping).inserted { flags.insert(.unreported) }
    return skip(count)
  }

  private mutating func skip(_ count: Int) -> Remains {
    let remains = Remains(first: next, count: count, exempt: joined - position)
    for _ in 0..<count { next = next?.next }
    position += count
    return remains
  }

  /// Cancels the notifications from `end` on that exceed `limit`, or all with ``Flags/endsForGood``; `end` moves past
  /// them.
  ///
  /// - Returns: as ``dropOldest(published:)``.
  mutating func dropBeyondEnd(published: Int) -> Remains? {
    let count = published - position - (flags.contains(.endsForGood) ? 0 : limit)
    if count <= 0 { return nil }
    defer { end = position }
    return skip(min(count, Self.mostDroppedAtOnce))
  }

  /// Takes the number of drops since the last report, to report it; 0 if no report is due.
  ///
  /// A mailbox with a limit of 1 is meant to drop, and reports nothing.
  mutating func takeUnreportedDrops() -> Int {
    guard flags.remove(.unreported) != nil else { return 0 }
    defer { reported = dropped }
    return limit == 1 ? 0 : dropped - reported
  }

  // MARK: Ending

  /// Sets `end`, unless it is earlier: the subscription gets what was posted before `number`, or was taken already.
  mutating func finish(at number: Int) { end = min(end, max(number, position)) }

  /// Takes over what is pending in a replaced subscription's mailbox, and terminates that mailbox.
  ///
  /// If the replaced mailbox is attended, or follows another, the new one *follows*: see ``Flags/following``.
  mutating func takeOver(from former: inout Mailbox) {
    if former.flags.contains(.attended) {
      former.flags.insert(.followed)
      flags.insert(.following)
    }
    if former.flags.contains(.following) { flags.insert(.following) }
    if flags.contains(.endsForGood) { end = former.end }
    (next, position, start) = (former.next.take(), former.position, former.position)
    joined = former.joined
    former.termination = .cancelled
  }

  /// Terminates the mailbox: pending notifications will not be handled.
  ///
  /// `number` notifications had been posted when the termination began.
  ///
  /// - Returns: what was pending; `nil` if terminated before.
  mutating func terminate(at number: Int, as reason: Termination) -> Remains? {
    guard termination == nil else { return nil }
    termination = reason
    let count = max(0, number - position)
    start -= count
    return Remains(first: next.take(), count: count, exempt: joined - position)
  }

  // MARK: Looking in

  /// Whether the notification with a number waits here or is in hand; false for a replayed one.
  func hasPending(_ number: Int) -> Bool {
    number >= joined && (number == inHand || !hasEnded && number >= position)
  }

  /// The account of this subscription's notifications; after termination, `published` has no effect.
  func account(published: Int) -> Account {
    var account = Account()
    account.handled = handled
    account.failed = failed
    account.passedOver = passedOver
    account.dropped = dropped
    account.handling = isHandling ? 1 : 0
    let accounted = handled + failed + passedOver + account.dropped + account.handling
    let lost = position - start - accounted
    if !hasEnded { account.waiting = published - position }
    let isExpired = hasEnded && termination == .expired
    (account.expired, account.cancelled) = isExpired ? (lost, 0) : (0, lost)
    return account
  }
}

/// Why a subscription ends.
@usableFromInline
enum Termination: Sendable {
  /// The subscription was cancelled or replaced, its set `end` came, or the hub was released.
  case cancelled
  /// The subscriber died.
  case expired
}

extension Mailbox {
  /// Notifications that the subscription will not handle: released outside the lock, after ``passReceipts(upTo:by:)``.
  struct Remains: Sendable {
    private(set) var first: Notification?
    let count: Int
    /// How many of these notifications, from the first on, are replayed: their receipts do not count the subscription.
    let exempt: Int

    /// Notes in the receipts of the first `most` notifications that the subscriber does not handle them.
    ///
    /// - Returns: the content of the last of these notifications.
    @discardableResult
    consuming func passReceipts(
      upTo most: Int = .max, by subscriber: borrowing WeakReference
    ) -> Notification.Content? {
      var last: Notification.Content?
      for index in 0..<max(0, min(count, most)) {
        last = first?.content
        if index >= exempt { last?.receipt?.passUnhandled(by: subscriber) }
        first = first?.next
      }
      return last
    }
  }

  /// What a worker does next at a mailbox.
  enum Step: Sendable {
    /// Run this notification's handler, then report with ``advance(after:published:)``.
    case handle(Notification.Content)
    /// Add the subscription to a delivery on its executor.
    case elsewhere
    /// Request another worker for what is pending: this one has left the mailbox, and workers that passed by rely on
    /// that.
    case more
    /// Leave the mailbox alone: it follows a replaced one, whose worker has not left.
    case later
    /// Nothing: this worker has left the mailbox, or has not attended it.
    case done
    /// Resume the waiter of a stream's loop, if any: an event is pending.
    case wake(Waiter?)
    /// Terminate the subscription: its set `end` is reached, and the worker has left.
    case over
  }

  struct Flags: OptionSet, Sendable {
    let rawValue: UInt8

    /// A worker attends: it runs a handler or is about to take a notification; or a stream's loop has an event in hand.
    static let attended = Flags(rawValue: 1)
    /// The mailbox must be looked at again: another worker found it occupied, or the attending one will leave some.
    static let recheck = Flags(rawValue: 2)
    /// No worker may attend this mailbox before the replaced one's worker has left, or the replaced subscription is
    /// cancelled.
    static let following = Flags(rawValue: 4)
    /// The replacement's mailbox follows this one: the thread that removes this flag lets the replacement begin.
    static let followed = Flags(rawValue: 64)
    /// Notifications from `end` on are cancelled; without this flag, they wait for a replacement.
    static let endsForGood = Flags(rawValue: 128)
    /// The mailbox waits for its executor's delivery, or for its stream's loop, and counts as a worker of the hub.
    static let queued = Flags(rawValue: 8)
    /// The mailbox has dropped something since a worker last found nothing pending.
    static let dropping = Flags(rawValue: 16)
    /// The mailbox has begun to drop, and that has not been reported.
    static let unreported = Flags(rawValue: 32)

    /// With any of these flags, no worker may begin to attend.
    static let occupied: Flags = [.attended, .queued, .following]
  }
}
