public import Synchronization

/// One subscription: who, to what, and how far.
///
/// Two independent pieces of state: `state`, one atomic word that says whether calls may start and
/// how many votes are being answered, and `contents`, under its own lock, for notifications and what
/// the caller gave us. Neither this lock nor the inbox's is ever taken under the other: posters wait for
/// the inbox's, and what is done to a mailbox may take long.
///
/// There may be a hundred thousand of them: the fields are in an order that leaves few gaps.
@usableFromInline
final class SubscriptionNode: Sendable {
  /// The bits of `state`.
  @usableFromInline
  enum Bits {
    /// No further call may start.
    ///
    /// Set once, under the inbox's lock; never cleared.
    @inlinable
    static var closed: UInt32 { 1 }
    /// Somebody waits for this subscription's calls to end.
    @inlinable
    static var awaited: UInt32 { 2 }
    /// There is an executor among the attachments.
    ///
    /// Written under the lock of the contents.
    @inlinable
    static var elsewhere: UInt32 { 4 }
    /// A worker attends the mailbox.
    ///
    /// Written under the lock of the contents, as the mailbox's own mark is, and here so that it and
    /// `closed` come in one order.
    static var attended: UInt32 { 8 }
    /// What was addressed to the subscription is accounted for, but for what is being handled.
    ///
    /// Set once, under the lock of the contents.
    static var settled: UInt32 { 16 }
    /// The subscriber was called by a question.
    @inlinable
    static var heard: UInt32 { 32 }
    /// One call of the asking kind.
    ///
    /// The rest of the word counts them.
    @inlinable
    static var call: UInt32 { 64 }
  }

  @usableFromInline
  let reference: WeakReference
  @usableFromInline
  let state: Atomic<UInt32>
  let topic: Topic
  let contents: Lock<Contents>
  let site: Site
  let subscriberType: any AnyObject.Type
  /// Higher is served first.
  ///
  /// Written and read by the hub's actor alone, as it learns of changes: while it sorts, nothing moves.
  let priority: Atomic<Int>
  /// The order of subscription: the inbox's running number.
  let serial: Int

  /// What is under the lock.
  struct Contents: Sendable {
    var mailbox: Mailbox
    var attachments: Attachments
  }

  init(
    reference: consuming WeakReference, topic: Topic, mailbox: Mailbox,
    attachments: Attachments, subscriberType: any AnyObject.Type, site: Site, priority: Int,
    serial: Int
  ) {
    self.reference = reference
    self.topic = topic
    state = Atomic(attachments.executor == nil ? 0 : Bits.elsewhere)
    contents = Lock(Contents(mailbox: mailbox, attachments: attachments))
    self.subscriberType = subscriberType
    self.site = site
    self.priority = Atomic(priority)
    self.serial = serial
  }

  // MARK: Life

  /// Whether calls may still start, and the subscriber is alive.
  ///
  /// Must not be called under a lock or on the hub's actor: see ``WeakReference/isAlive``.
  @usableFromInline
  var isActive: Bool { isOpen && reference.isAlive }

  /// Whether calls may still start.
  var isOpen: Bool { state.load(ordering: .sequentiallyConsistent) & Bits.closed == 0 }

  /// Ends the subscription, if nobody has yet.
  ///
  /// Must not be called under a lock or on the hub's actor.
  ///
  /// - Parameters:
  ///   - termination: how it ends.
  ///   - call: the call that found the subscriber dead, if one did.
  @usableFromInline
  func terminate(as termination: Termination, in call: CallKind? = nil) {
    topic.owner.terminate(self, as: termination, in: call)
  }

  /// Forbids further calls, the first half of a termination.
  ///
  /// Called under the inbox's lock and the succession's.
  ///
  /// - Returns: whether a worker attends the mailbox; it will tell when it leaves.
  func forbidCalls() -> Bool {
    let word = state.bitwiseOr(Bits.closed, ordering: .sequentiallyConsistent).oldValue
    return word & Bits.attended != 0
  }

  /// Accounts for what waits, and releases what was given to us: the second half of a termination.
  ///
  /// User code may run here, in `deinit`s: must not be called under a lock or on the hub's actor.
  func settle(at end: Int, as termination: Termination, in call: CallKind? = nil) {
    let (remains, attachments, account) = contents.withLock { contents in
      let remains = contents.mailbox.terminate(at: end, as: termination)
      defer { contents.attachments = Attachments(misses: contents.attachments.misses) }
      markSettled(contents.mailbox)
      return (remains, contents.attachments, contents.mailbox.account(published: end))
    }
    if termination == .expired { reportIfUnheard(account, in: call, id: attachments.id) }
    if isElsewhere { topic.noteEnded(self) }
    remains.discard(withReceiptsUpTo: topic.lastReceipt.load(ordering: .acquiring))
    withExtendedLifetime(attachments) {}
  }

  /// Called under the lock of the contents.
  func markSettled(_ mailbox: Mailbox) {
    if mailbox.isSettled { state.bitwiseOr(Bits.settled, ordering: .sequentiallyConsistent) }
  }

  /// The subscriber, for a question; `nil` if it has died, in which case the subscription ends as
  /// expired.
  @inlinable
  @inline(__always)
  func subscriber<P>(as type: P.Type, for call: CallKind) -> P? {
    if let subscriber = reference.load(as: type) {
      noteHeard()
      return subscriber
    }
    terminate(as: .expired, in: call)
    return nil
  }

  /// Gives the subscription what options name, unless it has ended; what they do not name, or newer ones
  /// have named, stays as it is.
  ///
  /// - Parameters:
  ///   - options: what was said when the object subscribed again.
  ///   - version: the order in which options were given; they may come in another one.
  func setOptions(_ options: SubscriptionOptions, version: Int) {
    let former = contents.withLock { contents -> Attachments? in
      guard contents.mailbox.ending == nil else { return nil }
      let former = contents.attachments
      let newest = contents.attachments.change(by: options, version: version)
      if let policy = newest.policy { contents.mailbox.setPolicy(policy) }
      if former.executor !== contents.attachments.executor {
        contents.mailbox.relocate()
        state.bitwiseOr(Bits.elsewhere, ordering: .relaxed)
      }
      return former
    }
    // What waits already goes by the new limit.
    touch { _, _ in }
    withExtendedLifetime(former) {}
  }

  /// Who this is, if not the object.
  var identity: Identity? { contents.withLock { $0.attachments.id } }

  /// Whether there is an executor among the attachments.
  @inlinable
  var isElsewhere: Bool { state.load(ordering: .relaxed) & Bits.elsewhere != 0 }

  /// Where its handlers run, if not where the hub says.
  var executor: (any TaskExecutor)? {
    // The look spares most subscriptions the lock.
    isElsewhere ? contents.withLock { $0.attachments.executor } : nil
  }

  // MARK: Calls

  /// Counts a call of the asking kind, unless none may start.
  @inlinable
  func beginCall() -> Bool {
    let word = state.wrappingAdd(Bits.call, ordering: .sequentiallyConsistent).oldValue
    guard word & Bits.closed == 0 else {
      endCall()
      return false
    }
    return true
  }

  /// Ends what ``beginCall()`` began.
  @inlinable
  func endCall() {
    let word = state.wrappingSubtract(Bits.call, ordering: .sequentiallyConsistent).newValue
    if word & Bits.awaited != 0 { resumeWaiters() }
  }

  /// Lets those go on who wait for this subscription's handlers.
  @usableFromInline
  func resumeWaiters() {
    topic.resumeWaiters(for: self)
  }

  /// Whether a notification was addressed to this subscription and has not been passed.
  ///
  /// What is addressed to a subscription that is held for this one waits for this one's handler.
  func owes(_ number: Int) -> Bool {
    if contents.withLock({ $0.mailbox.owes(number) }) { return true }
    return heir?.owes(number) ?? false
  }

  /// Whether the notification of a receipt was addressed to this subscription and has not been passed.
  func owes(_ receipt: Receipt) -> Bool {
    guard let place = receipt.place, place.topic == topic.number else { return false }
    return owes(place.number)
  }

  /// How many notifications have been posted, or `nil` if the subscription is closed.
  ///
  /// To be read under the mailbox's lock: whoever left a note in the mailbox had seen what it stands
  /// for, so a count that was read before the lock could miss it. The count is read before the look at
  /// the state: it includes nothing that was posted after the subscription was closed, and so was not
  /// addressed to it.
  var publishedWhileOpen: Int? {
    let published = topic.published.load(ordering: .acquiring)
    return isOpen ? published : nil
  }

  /// How many notifications are moved into a mailbox with a limit at once, while nobody else can do
  /// anything to it.
  private static var storedAtOnce: Int { 1024 }

  /// Does something to the contents, after storing what a mailbox with a limit has to store, and releases
  /// what was dropped by that.
  func touch<Result: Sendable>(_ body: (inout Contents, Int?) -> Result) -> Result {
    while true {
      let (result, refuse, dropped) = contents.withLock {
        contents -> (Result?, [Notification.Content], Int) in
        let published = publishedWhileOpen
        let isStored =
          published.map { contents.mailbox.store(upTo: $0, atMost: Self.storedAtOnce) } ?? true
        return (
          isStored ? body(&contents, published) : nil, contents.mailbox.takeRefuse(),
          contents.mailbox.takeDropped()
        )
      }
      if dropped > 0 { report(.dropped(dropped), in: .notify) }
      for content in refuse { content.receipt?.pass() }
      if let result { return result }
    }
  }

  /// How many of this subscription's handlers are running or about to.
  var runningCalls: Int {
    let asked = Int(state.load(ordering: .sequentiallyConsistent) / Bits.call)
    return asked + (contents.withLock { $0.mailbox.isHandling } ? 1 : 0)
  }

  /// What became of the notifications addressed to this subscription so far.
  var account: Account {
    // Read under the lock, lest more has been accounted for than had been posted.
    touch { contents, _ in
      contents.mailbox.account(published: topic.published.load(ordering: .acquiring))
    }
  }

  /// Makes the ends of calls be told to those who wait, or no longer.
  ///
  /// Called under the lock of the topic's waiters.
  func announceEnds(_ isAwaited: Bool) {
    if isAwaited {
      state.bitwiseOr(Bits.awaited, ordering: .sequentiallyConsistent)
    } else {
      state.bitwiseAnd(~Bits.awaited, ordering: .sequentiallyConsistent)
    }
  }
}

extension SubscriptionNode: CustomStringConvertible {
  var name: SubscriberName { SubscriberName(type: subscriberType, id: identity) }

  @usableFromInline
  var description: String { name.description }
}

extension SubscriptionNode: RosterMember {
  var rank: Int {
    get { priority.load(ordering: .relaxed) }
    set { priority.store(newValue, ordering: .relaxed) }
  }
  var isGone: Bool { !isOpen }
  var isAtRest: Bool {
    let word = state.load(ordering: .sequentiallyConsistent)
    return word & Bits.settled != 0 && word & Bits.attended == 0 && word < Bits.call
  }
}
