public import Synchronization

/// One subscription: who, to what, and how far.
///
/// Two independent pieces of state: `state`, one atomic word that says whether calls may start and
/// how many votes are being answered, and `contents`, under its own lock, for notifications and what
/// the caller gave us. Lock order: the inbox's lock, then that of the contents.
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
    @inlinable
    static var elsewhere: UInt32 { 4 }
    /// One call of the asking kind.
    ///
    /// The rest of the word counts them.
    @inlinable
    static var call: UInt32 { 8 }
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
  /// Written under the inbox's lock, read by the hub's actor when it sorts.
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

  /// Whether calls may still start.
  var isOpen: Bool { state.load(ordering: .sequentiallyConsistent) & Bits.closed == 0 }

  /// Whether calls may still start, and the subscriber is alive.
  ///
  /// Must not be called under a lock or on the hub's actor: see ``WeakReference/isAlive``.
  @usableFromInline
  var isActive: Bool { isOpen && reference.isAlive }

  /// Forbids further calls.
  ///
  /// Called under the inbox's lock.
  func forbidCalls() {
    state.bitwiseOr(Bits.closed, ordering: .sequentiallyConsistent)
  }

  /// Ends the subscription, if nobody has yet.
  ///
  /// Must not be called under a lock or on the hub's actor.
  @usableFromInline
  func terminate(as termination: Termination) {
    topic.owner.terminate(self, as: termination)
  }

  /// Accounts for what waits, and lets go of what was given to us, after ``forbidCalls()``.
  ///
  /// Foreign `deinit`s may run here: must not be called under a lock or on the hub's actor.
  func settle(at end: Int, as reason: Termination) {
    let (remains, attachments) = contents.withLock { contents in
      defer { contents.attachments = Attachments() }
      return (contents.mailbox.close(at: end, as: reason), contents.attachments)
    }
    remains.discard()
    withExtendedLifetime(attachments) {}
  }

  /// The subscriber, or `nil` if it has died, in which case the subscription ends as expired.
  @inlinable
  @inline(__always)
  func subscriber<P>(as type: P.Type) -> P? {
    if let subscriber = reference.load(as: type) { return subscriber }
    terminate(as: .expired)
    return nil
  }

  /// Gives an open subscription what options name; what they do not name stays as it is.
  ///
  /// Called under the inbox's lock.
  ///
  /// - Returns: what it had before and what its mailbox has dropped, to be let go outside the lock.
  func setOptions(_ options: SubscriptionOptions) -> FormerOptions {
    if options.executor != nil { state.bitwiseOr(Bits.elsewhere, ordering: .relaxed) }
    let published = topic.published.load(ordering: .acquiring)
    return contents.withLock { contents in
      let former = contents.attachments
      contents.attachments = former.changed(by: options)
      if let policy = options.policy { contents.mailbox.setPolicy(policy, published: published) }
      return FormerOptions(attachments: former, refuse: contents.mailbox.takeRefuse())
    }
  }

  /// Ends the mailbox where it stands and gives what waits to a successor's.
  ///
  /// Called under the inbox's lock.
  func handOver(policy: DelegateHub.MailboxPolicy) -> Mailbox? {
    contents.withLock { $0.mailbox.handOver(policy: policy) }
  }

  /// What a change of options leaves over.
  struct FormerOptions: Sendable {
    fileprivate var attachments: Attachments
    fileprivate var refuse: [Notification.Content]

    /// Lets go of it, and passes the receipts of what was dropped.
    ///
    /// Not under a lock.
    func discard() {
      for content in refuse { content.receipt?.pass() }
    }
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

  /// Begins to attend the mailbox; see ``Mailbox/attend(published:)``.
  func attend() -> Bool {
    guard isOpen else { return false }
    return touch { $0.attend(published: publishedWhileOpen) }
  }

  /// Both at once, for a worker that need not go elsewhere in between.
  func attendAndProceed() -> Mailbox.Step {
    guard isOpen else { return .rest }
    let step = touch { mailbox in
      let published = publishedWhileOpen
      return mailbox.attend(published: published) ? mailbox.proceed(published: published) : .rest
    }
    if case .rest = step { return step }
    return noticed(step)
  }

  /// Begins a round of attendance; see ``Mailbox/proceed(published:)``.
  func proceed() -> Mailbox.Step {
    noticed(touch { $0.proceed(published: publishedWhileOpen) })
  }

  /// Reports a notification's fate; see ``Mailbox/advance(after:published:)``.
  func advance(after fate: Mailbox.Fate) -> Mailbox.Step {
    noticed(contents.withLock { $0.mailbox.advance(after: fate, published: publishedWhileOpen) })
  }

  /// Whether a notification was addressed to this subscription and has not been passed.
  func owes(_ number: Int) -> Bool {
    contents.withLock { $0.mailbox.owes(number) }
  }

  /// Whether the notification of a receipt was addressed to this subscription and has not been passed.
  func owes(_ receipt: Receipt) -> Bool {
    guard let place = receipt.place, place.key == topic.key else { return false }
    return owes(place.number)
  }

  /// How many notifications have been posted, or 0 if the subscription is closed.
  ///
  /// To be read under the mailbox's lock: whoever left a note in the mailbox had seen what it stands
  /// for, so a count that was read before the lock could miss it. The count is read before the look at
  /// the state: it includes nothing that was posted after the subscription was closed, and so was not
  /// addressed to it.
  private var publishedWhileOpen: Int {
    let published = topic.published.load(ordering: .acquiring)
    return isOpen ? published : 0
  }

  /// Does something to the mailbox, and lets go of what was dropped by that.
  private func touch<Result: Sendable>(_ body: (inout Mailbox) -> Result) -> Result {
    let (result, refuse) = contents.withLock { (body(&$0.mailbox), $0.mailbox.takeRefuse()) }
    for content in refuse { content.receipt?.pass() }
    return result
  }

  /// Tells those who wait for this subscription's handlers that one has ended.
  private func noticed(_ step: Mailbox.Step) -> Mailbox.Step {
    if state.load(ordering: .sequentiallyConsistent) & Bits.awaited != 0 {
      resumeWaiters()
    }
    return step
  }

  /// How many of this subscription's handlers are running or about to.
  var runningCalls: Int {
    let asked = Int(state.load(ordering: .sequentiallyConsistent) / Bits.call)
    return asked + (contents.withLock { $0.mailbox.isHandling } ? 1 : 0)
  }

  /// What became of the notifications addressed to this subscription so far.
  var account: Account {
    touch { mailbox in
      // Read under the lock, lest more has been accounted for than had been posted.
      let published = topic.published.load(ordering: .acquiring)
      if isOpen { mailbox.store(upTo: published) }
      return mailbox.account(published: published)
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
  var rank: Int { priority.load(ordering: .relaxed) }
  var isGone: Bool { !isOpen }
  var isAtRest: Bool {
    state.load(ordering: .sequentiallyConsistent) < Bits.call
      && contents.withLock { $0.mailbox.isFinal }
  }
}
