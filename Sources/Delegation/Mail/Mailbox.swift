/// How far one subscription is in its protocol's chain of notifications, and what became of those before.
///
/// At most one worker *attends* a mailbox at a time: it takes a notification, runs the handler outside
/// the lock, reports the result and takes the next. A worker that finds a mailbox attended sets
/// ``Flags/recheck`` and goes on to other subscriptions; the attending worker then looks again. So the
/// subscriber handles one notification at a time, in the chain's order, and no worker waits for another.
///
/// Invariant: some worker will see each notification that is posted and not taken: the attending worker (`recheck` is
/// set, or its budget is not used up), a worker of the delivery that the post requested, or one of the executor's
/// delivery in which the mailbox is *queued*. For notifications that were taken over or are replayed, a worker is
/// requested at once. For a mailbox that *follows* a replaced one, a worker is requested when the replaced one's worker
/// has left or its subscription is cancelled.
///
/// The parameter `published` is the number of notifications that had been posted while the subscription was open. It is
/// `nil` once the termination has begun: then no worker takes more, because a replacement may take over what is left.
struct Mailbox: Sendable {
  /// The first notification of the chain that was not taken, or the placeholder; `nil` after termination.
  var next: Notification?
  /// The number of `next`; it does not change after termination.
  var position: Int
  /// `position - start` is how many notifications were addressed to the subscription and are not pending.
  ///
  /// At first `start` is the number at which the subscription begins. A termination lowers it by what was pending, a
  /// question to a stream by one.
  var start: Int
  /// How many notifications had been posted when the subscription began: no poster waits here for earlier, replayed
  /// ones.
  ///
  /// A replacement takes this number over.
  var joined: Int
  private var handled = 0
  private var failed = 0
  private var passedOver = 0
  private var dropped = 0
  /// How many of `dropped` have been reported.
  private var reported = 0
  /// How many notifications may wait.
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

  /// Whether the subscription's end is set.
  var isFinishing: Bool { end != .max }

  /// Whether the end is reached, and nothing is in hand.
  var isOver: Bool { position >= end && !isHandling }

  /// Whether the mailbox has ended: what was pending was discarded or handed over.
  var hasEnded: Bool { termination != nil && next == nil }

  /// Makes a mailbox for a notification of the chain and all later ones.
  ///
  /// - Parameters:
  ///   - placeholder: the first notification, or the chain's empty end.
  ///   - number: the notification's number.
  ///   - policy: what to do when notifications come faster than they are handled.
  init(at placeholder: Notification, number: Int, policy: DelegateHub.MailboxPolicy = .unbounded) {
    (next, position, start, joined) = (placeholder, number, number, number)
    limit = policy.limit ?? .max
    end = policy.most.map { number + $0 } ?? .max
    if policy.most != nil { flags = .endsForGood }
  }

  // MARK: Attending

  /// How many notifications a worker handles in a row: with more, the worker would keep a thread, an event loop or a
  /// queue from other work for too long.
  static let mostHandledAtOnce = 256

  /// Begins to attend the mailbox, or queues it for a delivery, if a notification is pending and the mailbox is not
  /// ``Flags/occupied``.
  ///
  /// - Parameters:
  ///   - published: how many notifications had been posted while the subscription was open.
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

  /// Takes the first notification, for a worker that begins to attend.
  ///
  /// - Parameters:
  ///   - published: as for ``attend(published:as:)``.
  ///   - most: how many notifications the worker takes before it leaves.
  /// - Returns: what the attending worker does next.
  mutating func proceed(published: Int?, taking most: Int = mostHandledAtOnce) -> Step {
    guard termination == nil, let published, published > position else { return leave() }
    // The delivery that brought this worker comes here only once: for what is beyond `most`, the flag has this worker
    // request another one when it leaves.
    if published - position > most { flags.insert(.recheck) } else { flags.remove(.recheck) }
    budget = Int32(min(most, published - position))
    return take().map(Step.handle) ?? leave()
  }

  /// Reports what became of the notification that was taken.
  ///
  /// - Parameters:
  ///   - fate: what became of the notification.
  ///   - published: as for ``attend(published:as:)``.
  /// - Returns: what the attending worker does next.
  @inline(__always)
  mutating func advance(after fate: Notification.Fate, published: Int?) -> Step {
    inHand = -1
    switch fate {
    case .handled: handled += 1
    case .failed: failed += 1
    case .passedOver, .notAddressed: passedOver += 1
    // Not counted: `account` derives the number from the others.
    case .expired: break
    }
    guard termination == nil, let published, published > position else { return leave() }
    if budget > 0, let content = take() { return .handle(content) }
    // Without `recheck`, the delivery of what was posted since has yet to come to this mailbox.
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

  /// Takes the next notification out of the chain.
  ///
  /// Its last reference may be released here, under the lock. No user's `deinit` can run then, because the content is
  /// returned, and `next` retains the notification after it.
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

  /// How many notifications are dropped in one section of the lock.
  static let mostDroppedAtOnce = 4096

  /// Whether more wait than the limit allows, or the end is reached, beyond which some may wait.
  @inline(__always)
  func mustDrop(published: Int?) -> Bool {
    guard let published else { return false }
    return published - position > limit || position >= end
  }

  /// Drops the oldest notifications while more wait than the limit allows, by going on in the chain.
  ///
  /// - Returns: what was dropped, if anything. If ``mostDroppedAtOnce`` were dropped, there may be more.
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

  /// Once the end is reached, cancels what waits beyond it: what exceeds the limit, or all with ``Flags/endsForGood``.
  ///
  /// - Returns: as ``dropOldest(published:)``.
  mutating func dropBeyondEnd(published: Int) -> Remains? {
    let count = published - position - (flags.contains(.endsForGood) ? 0 : limit)
    if count <= 0 { return nil }
    defer { end = position }
    return skip(min(count, Self.mostDroppedAtOnce))
  }

  /// How many were dropped since the last report, if another report is due; otherwise 0.
  ///
  /// A mailbox with a limit of 1 is meant to drop, and reports nothing.
  mutating func takeUnreportedDrops() -> Int {
    guard flags.remove(.unreported) != nil else { return 0 }
    defer { reported = dropped }
    return limit == 1 ? 0 : dropped - reported
  }

  // MARK: Ending

  /// Sets the end: only what was posted before `number`, or was taken already, is for the subscription.
  mutating func finish(at number: Int) { end = min(end, max(number, position)) }

  /// Takes over what is pending in a replaced subscription's mailbox, which ends.
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
  /// - Parameters:
  ///   - number: how many notifications had been posted when the termination began.
  ///   - reason: why the subscription was terminated.
  /// - Returns: what was pending.
  mutating func terminate(at number: Int, as reason: Termination) -> Remains? {
    guard termination == nil else { return nil }
    termination = reason
    let count = max(0, number - position)
    start -= count
    return Remains(first: next.take(), count: count, exempt: joined - position)
  }

  // MARK: Looking in

  /// Whether a notification waits here or is in hand, and is not a replayed one.
  func hasPending(_ number: Int) -> Bool {
    number >= joined && (number == inHand || !hasEnded && number >= position)
  }

  /// The account of this subscription.
  ///
  /// - Parameter published: how many notifications have been posted, or had been at the termination.
  /// - Returns: the account.
  func account(published: Int) -> Account {
    var account = Account(
      handled: handled, failed: failed, dropped: dropped, passedOver: passedOver,
      handling: isHandling ? 1 : 0)
    let lost = position - start - account.addressed
    if !hasEnded { account.waiting = published - position }
    let isExpired = hasEnded && termination == .expired
    (account.expired, account.cancelled) = isExpired ? (lost, 0) : (0, lost)
    return account
  }
}

/// Why a subscription ends.
@usableFromInline
enum Termination: Sendable {
  /// The user cancelled or unsubscribed, or the hub was released.
  case cancelled
  /// The subscriber died.
  case expired
}

extension Mailbox {
  /// Notifications that the subscription will not handle: released outside the lock, after ``passReceipts(upTo:by:)``.
  struct Remains: Sendable {
    private(set) var first: Notification?
    let count: Int
    /// How many of these notifications, at the beginning, are replayed: their receipts do not count the subscription.
    let exempt: Int

    /// Notes in the receipts of the first notifications that the subscriber does not handle them.
    ///
    /// - Parameters:
    ///   - most: how many notifications to look at.
    ///   - subscriber: the subscriber.
    /// - Returns: the content of the last notification.
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

  /// What a worker does next.
  enum Step: Sendable {
    /// Run this notification's handler, then report with ``advance(after:published:)``.
    case handle(Notification.Content)
    /// Add the subscription to the delivery of its executor.
    case elsewhere
    /// The mailbox is no longer attended; request another worker for what is pending, because workers that passed by
    /// rely on that.
    case more
    /// The mailbox follows a replaced one, which is still attended.
    case later
    /// Nothing is left; the mailbox is no longer attended.
    case done
    /// Something is pending for a stream: resume its loop, if that waits.
    case wake(Waiter?)
    /// The end is reached; the mailbox is no longer attended.
    case over
  }

  struct Flags: OptionSet, Sendable {
    let rawValue: UInt8

    /// A worker attends: it runs a handler or is about to take a notification; or a stream's loop has an event in hand.
    static let attended = Flags(rawValue: 1)
    /// The mailbox must be looked at again: another worker found it occupied, or the attending one does not take all.
    static let recheck = Flags(rawValue: 2)
    /// No worker may begin before the worker of the replaced mailbox has left, or its subscription was cancelled.
    static let following = Flags(rawValue: 4)
    /// The replacement's mailbox follows this one: the thread that removes this flag lets the replacement begin.
    static let followed = Flags(rawValue: 64)
    /// What is posted after the end is cancelled, and does not wait for a replacement.
    static let endsForGood = Flags(rawValue: 128)
    /// The mailbox waits for its executor's delivery, or for its stream's loop, and counts as a worker of the hub.
    static let queued = Flags(rawValue: 8)
    /// The mailbox has dropped something since it last had nothing pending.
    static let dropping = Flags(rawValue: 16)
    /// The mailbox has begun to drop, and that has not been reported.
    static let unreported = Flags(rawValue: 32)

    /// With any of these, no worker may begin.
    static let occupied: Flags = [.attended, .queued, .following]
  }
}
