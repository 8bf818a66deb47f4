/// One subscriber's place in its protocol's chain of notifications, and the account of those it has passed.
///
/// At most one worker *attends* a mailbox at a time: it takes a notification, runs the handler outside
/// the lock, reports the result and takes the next. A worker that finds a mailbox attended sets
/// ``Flags/recheck`` and goes on to other subscriptions; the attending worker then looks again. So the
/// subscriber handles one notification at a time, in the chain's order, and no worker waits for another.
///
/// Invariant: every notification that is posted and not taken will be seen by a worker: by the attending
/// one (`recheck` is set, or its budget is not used up), by the delivery that the posting requested, by that of its
/// executor, in which it waits, or by the worker that is requested for what it takes over or is replayed: at once, or when
/// the one that it follows has been left.
///
/// The parameter `published` is the number of notifications that had been posted while the subscription
/// was open. It is `nil` once the termination has begun: then nothing more is taken, because it may have
/// to be handed over to a newer subscription.
struct Mailbox: Sendable {
  /// The first notification of the chain that was not taken, or the placeholder; `nil` after termination.
  var next: Notification?
  /// The number of `next`; it does not change after termination.
  var position: Int
  /// `position - start` is how many were addressed to the subscription, without those of the chain that
  /// are pending.
  ///
  /// It is the number at which the subscription began, until it takes over notifications or ends.
  var start: Int
  /// How many notifications had been posted when it was subscribed: those before do not wait for it.
  var joined: Int
  private var handled = 0
  private var failed = 0
  private var passedOver = 0
  private var dropped = 0
  /// How many of `dropped` have been reported.
  private var reported = 0
  /// How many may wait.
  let limit: Int
  /// The number of the first notification that will not be handled, as the subscription ends before it.
  var end: Int
  /// How the subscription was terminated; `nil` before.
  var termination: Termination?
  var flags: Flags = []
  /// How many more the attending worker takes before it leaves, so that a flood cannot hold it.
  private var budget: Int32 = 0

  /// The number of the notification whose handler is running, or about to run; -1 if none is.
  private(set) var inHand = -1

  /// Whether a notification's handler is running, or about to run; what a stream's loop has in hand is one.
  var isHandling: Bool { inHand >= 0 }

  /// The number of the notification whose handler is running, if that waits for it.
  var awaited: Int? { inHand >= joined ? inHand : nil }

  /// Whether it ends after what was posted before.
  var isFinishing: Bool { end != .max }

  /// Whether all that it was to handle has been taken, and no handler runs.
  var isOver: Bool { position >= end && !isHandling }

  /// Whether nothing is pending any more, because it was discarded or handed over.
  var hasEnded: Bool { termination != nil && next == nil }

  /// Makes a mailbox at the end of the chain: what was posted before is not addressed to it.
  ///
  /// - Parameters:
  ///   - placeholder: the end of the chain.
  ///   - number: how many notifications have been posted.
  ///   - policy: what to do when notifications come faster than they are handled.
  init(
    at placeholder: Notification, number: Int, policy: DelegateHub.MailboxPolicy = .unbounded
  ) {
    next = placeholder
    position = number
    start = number
    joined = number
    limit = policy.limit ?? .max
    end = policy.most.map { number + $0 } ?? .max
    if policy.most != nil { flags = .endsForGood }
  }

  // MARK: Attending

  /// How many notifications a worker handles in a row: with more it would keep a thread, an event loop or a queue from other
  /// work for too long.
  static let mostHandledAtOnce = 256

  /// Begins to attend the mailbox, or to wait in a delivery, if a notification is pending and nobody has begun.
  ///
  /// - Parameters:
  ///   - published: how many notifications had been posted while the subscription was open.
  ///   - flag: `attended` or `queued`.
  /// - Returns: whether it begins; who attends goes on with ``proceed(published:)``.
  mutating func attend(published: Int?, as flag: Flags = .attended) -> Bool {
    guard termination == nil, let published else { return false }
    if !flags.isDisjoint(with: .occupied) {
      flags.insert(.recheck)
      return false
    }
    guard hasMore(published) else { return false }
    flags.insert(flag)
    return true
  }

  /// Takes the first notification.
  ///
  /// - Parameters:
  ///   - published: as with ``attend(published:)``.
  ///   - most: how many the worker takes before it leaves.
  /// - Returns: what the attending worker does next.
  mutating func proceed(published: Int?, taking most: Int = mostHandledAtOnce) -> Step {
    guard termination == nil, let published, hasMore(published) else { return leave() }
    // Nobody else has yet to look at what is beyond that.
    if published - position > most { flags.insert(.recheck) } else { flags.remove(.recheck) }
    budget = Int32(min(most, published - position))
    return take().map(Step.handle) ?? leave()
  }

  /// Reports what became of the notification that was taken.
  ///
  /// - Parameters:
  ///   - fate: what became of it.
  ///   - published: as with ``attend(published:)``.
  /// - Returns: what the attending worker does next.
  @inline(__always)
  mutating func advance(after fate: Notification.Fate, published: Int?) -> Step {
    inHand = -1
    count(fate)
    guard termination == nil, let published, hasMore(published) else { return leave() }
    if budget > 0, let content = take() { return .handle(content) }
    // If none is set, the delivery for what was posted since has yet to look at this mailbox.
    return leave(as: flags.contains(.recheck) ? .more : .done, isCaughtUp: false)
  }

  /// Counts what became of a notification that was taken.
  @inline(__always)
  mutating func count(_ fate: Notification.Fate) {
    switch fate {
    case .handled: handled += 1
    case .failed: failed += 1
    case .passedOver, .notAddressed: passedOver += 1
    case .expired: break
    }
  }

  /// Counts a question, which a stream passes over, as a notification that was.
  mutating func passOverQuestion() {
    start -= 1
    passedOver += 1
  }

  private mutating func leave(as step: Step = .done, isCaughtUp: Bool = true) -> Step {
    flags.remove(.attended)
    if isCaughtUp { flags.remove(.dropping) }
    return isOver ? .over : step
  }

  @inline(__always)
  func hasMore(_ published: Int) -> Bool { published > position }

  /// Takes the next notification out of the chain.
  ///
  /// The last reference to it may be released here, under the lock. Its content is returned and the
  /// notification after it is kept in `next`, so no user's `deinit` can run.
  private mutating func take() -> Notification.Content? {
    budget -= 1
    inHand = position
    defer {
      next = next?.next
      position += 1
    }
    if position < joined {
      var content = next?.content
      content?.receipt = nil
      return content
    }
    return next?.content
  }

  // MARK: Dropping

  /// How many are dropped in one section of the lock.
  static let mostDroppedAtOnce = 4096

  /// Whether more wait than the limit says, or it is at its end, after which there may be some.
  @inline(__always)
  func mustDrop(published: Int?) -> Bool {
    published.map { $0 - position > limit || position >= end } ?? false
  }

  /// Drops the oldest that wait beyond the limit, by going on in the chain.
  ///
  /// - Returns: what was dropped; `nil` for nothing. If it is ``mostDroppedAtOnce``, there may be more.
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

  /// Cancels what was posted after the end, unless it may wait for a replacement.
  ///
  /// - Returns: as ``dropOldest(published:)``.
  mutating func dropBeyondEnd(published: Int) -> Remains? {
    let count = published - position - (flags.contains(.endsForGood) ? 0 : limit)
    if count <= 0 { return nil }
    defer { end = position }
    return skip(min(count, Self.mostDroppedAtOnce))
  }

  /// How many were dropped since the last report, if it has begun to drop; otherwise 0.
  ///
  /// That only the latest waits is no fault.
  mutating func takeUnreportedDrops() -> Int {
    guard flags.remove(.unreported) != nil else { return 0 }
    defer { reported = dropped }
    return limit == 1 ? 0 : dropped - reported
  }

  // MARK: Ending

  /// Notes that what is posted after so many notifications is not for the subscription, except what it has taken.
  mutating func finish(at number: Int) { end = min(end, max(number, position)) }

  /// Takes over what is pending in another mailbox, which ends by that; if that one is attended, or follows another one,
  /// this one follows.
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

  /// Whether notifications were addressed to a subscriber that has died.
  ///
  /// One that is being handled reaches nobody any more, or has been noted to be heard.
  func hasMissed(_ published: Int) -> Bool {
    isHandling || account(published: published).expired > 0
  }

  /// Terminates the mailbox: pending notifications will not be handled.
  ///
  /// - Parameters:
  ///   - number: how many notifications had been posted when the termination began.
  ///   - reason: how the subscription was terminated.
  /// - Returns: what was pending.
  mutating func terminate(at number: Int, as reason: Termination) -> Remains? {
    guard termination == nil else { return nil }
    termination = reason
    let count = max(0, number - position)
    start -= count
    return Remains(first: next.take(), count: count, exempt: joined - position)
  }

  // MARK: Looking in

  /// Whether a notification was addressed to this subscription, which has not passed it.
  func hasPending(_ number: Int) -> Bool {
    number >= joined && (number == inHand || !hasEnded && number >= position)
  }

  /// The account of this subscription.
  ///
  /// - Parameter published: how many notifications have been posted, or had been when it was terminated.
  /// - Returns: the account.
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

/// How a subscription is terminated.
@usableFromInline
enum Termination: Sendable {
  /// It was cancelled, unsubscribed, or its hub was released.
  case cancelled
  /// Its subscriber died.
  case expired
}

/// What a mailbox tells its worker to do, the state that it is in, and what it gives up.
extension Mailbox {
  /// A part of the chain that nobody will handle: to be released, and its receipts passed, outside the lock.
  struct Remains: Sendable {
    private(set) var first: Notification?
    let count: Int
    /// How many of the first do not wait for the subscription.
    let exempt: Int

    /// Passes the receipts of the first of them, up to a number.
    ///
    /// - Parameters:
    ///   - most: the number.
    ///   - subscriber: the subscriber that does not handle them.
    /// - Returns: the last one that was looked at.
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
    /// The mailbox waits in the delivery of its subscription's executor.
    case elsewhere
    /// The mailbox is no longer attended, but another worker has to be requested for what is pending: others rely
    /// on that.
    case more
    /// The mailbox follows another one, whose worker has yet to leave.
    case later
    /// Nothing is left; the mailbox is no longer attended.
    case done
    /// Nothing is pending for the loop of its stream any more: this waiter is resumed.
    case wake(Waiter?)
    /// The last notification that it was to handle has been handled; the mailbox is no longer attended.
    case over
  }

  /// The state of a mailbox.
  struct Flags: OptionSet, Sendable {
    let rawValue: UInt8

    /// A worker attends: it runs a handler or is about to take a notification.
    static let attended = Flags(rawValue: 1)
    /// Another worker has found the mailbox attended or waiting for its executor, and relies on another look.
    static let recheck = Flags(rawValue: 2)
    /// No worker may begin before the worker of the replaced subscription's mailbox has left.
    static let following = Flags(rawValue: 4)
    /// The mailbox of the replacement follows this one: who removes this flag lets it begin.
    static let followed = Flags(rawValue: 64)
    /// Nothing replaces the subscription: what is posted after its end waits for nobody.
    static let endsForGood = Flags(rawValue: 128)
    /// It waits in the delivery of its subscription's executor, and is counted as a worker of the hub.
    static let queued = Flags(rawValue: 8)
    /// It has dropped something since nothing was pending.
    static let dropping = Flags(rawValue: 16)
    /// It has begun to drop, and that has not been reported.
    static let unreported = Flags(rawValue: 32)

    /// Why no worker may begin.
    static let occupied: Flags = [.attended, .queued, .following]
  }
}
