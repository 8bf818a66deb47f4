public import Synchronization

/// One subscription: its subscriber, its topic, and its mailbox.
///
/// Its state is in two parts. `state` is one atomic word that says whether calls may start, how many questions were
/// asked, and how many are being answered. `contents` has the mailbox and the options, under a lock of its own. That
/// lock may be taken under the topic's, but only for constant time, because posters wait for the topic's. The topic's
/// lock is never taken under it.
///
/// A *place*, an object or an id, has one open subscription at a time; a newer one is the *replacement* of the former.
/// One worker, or a stream's loop, *attends* the mailbox at a time: only it takes notifications. The protocol's *sums*
/// are the counts of ended subscriptions.
///
/// There may be a hundred thousand nodes, so the fields are in an order that leaves few gaps.
@usableFromInline
final class SubscriptionNode: Sendable {
  /// The bits of `state`.
  @usableFromInline
  enum Bits {
    /// No further call may start: the termination has begun.
    ///
    /// Set under the topic's lock, and never cleared.
    @inlinable
    static var terminated: UInt64 { 1 }
    /// A task waits for this subscription's handlers to end.
    @inlinable
    static var awaited: UInt64 { 2 }
    /// The options name an executor: set by `init` only.
    @inlinable
    static var hasExecutor: UInt64 { 4 }
    /// A worker, or a stream's loop, attends the mailbox.
    ///
    /// Written under the lock of the contents, together with the mailbox's flag. In one word with `terminated`: if a
    /// worker begins to attend while a thread terminates, at least one sees the other's bit.
    static var attended: UInt64 { 8 }
    /// The subscription was replaced; set together with `terminated`.
    static var replaced: UInt64 { 16 }
    /// Set by the first call.
    @inlinable
    static var called: UInt64 { 32 }
    /// The subscription was replaced, and not cancelled since: the notification that it has taken is still handled.
    static var stillHandles: UInt64 { 64 }
    /// The subscriber is a stream: questions pass it over.
    @inlinable
    static var stream: UInt64 { 1 << 7 }
    /// The subscription ended while a notification was in hand; `notifyAndWait(leaving:)` does not wait for its
    /// handler.
    ///
    /// Written under the lock of the contents.
    static var endedInHand: UInt64 { 1 << 8 }
    /// Added for each asked question; bits 9 to 31 count them.
    @inlinable
    static var asked: UInt64 { 1 << 9 }
    /// Set when so many questions were asked that some have to move to `corrections`, before their count overflows.
    @inlinable
    static var full: UInt64 { 1 << 31 }
    /// Added for each running question; the upper half of the word counts them.
    @inlinable
    static var call: UInt64 { 1 << 32 }
    /// With one of these bits, a call has to look further before it begins.
    @inlinable
    static var special: UInt64 { terminated | full | stream }
  }

  @usableFromInline
  let reference: WeakReference
  @usableFromInline
  let state: Atomic<UInt64>
  let topic: Topic
  let contents: Lock<Contents>
  let site: SubscribeSite
  /// Higher is served first.
  let priority: Int
  /// The place's number in the topic; with equal priorities, the lower number is served first.
  let serial: Int
  /// A number that a subscription shares with its replacements by the same object, so that their tokens are equal.
  let origin: Int

  struct Contents: Sendable {
    var mailbox: Mailbox
    /// The options, if there are any; after the subscription's end, as long as handlers run, what
    /// ``SubscriptionOptions/afterEnd(isReplaced:)`` keeps.
    var options: SubscriptionOptions?
    /// The counts of questions that `state` does not have: failed, abandoned, late, and answered ones that were moved
    /// here.
    ///
    /// Empty, or one element: the runtime would have to look up an optional's type.
    var corrections: [QuestionAccount] = []
    /// For each question that waits for the subscription's executor, a closure that tells it of the subscription's end.
    var senders: [ObjectIdentifier: @Sendable () -> Void] = [:]
  }

  init(
    reference: consuming WeakReference, topic: Topic, mailbox: Mailbox,
    options: SubscriptionOptions?, site: SubscribeSite, priority: Int, serial: Int, origin: Int
  ) {
    self.reference = reference
    (self.topic, self.site, self.priority) = (topic, site, priority)
    (self.serial, self.origin) = (serial, origin)
    state = Atomic(
      (options?.executor == nil ? 0 : Bits.hasExecutor) | (options?.loop == nil ? 0 : Bits.stream))
    contents = Lock(Contents(mailbox: mailbox, options: options))
  }

  // MARK: Life

  /// The subscriber's address, by which the topic's index knows the subscription.
  var address: Int { Int(bitPattern: reference.identity) }

  /// The address by which the topic's index finds the ended subscription: that of the subscriber's owner, if there is
  /// one.
  var endedAddress: Int { reference.owner ?? address }

  /// Whether calls may still start.
  var isOpen: Bool { state.load(ordering: .sequentiallyConsistent) & Bits.terminated == 0 }

  var isReplaced: Bool { state.load(ordering: .sequentiallyConsistent) & Bits.replaced != 0 }

  /// The open subscription at the same place, if this one has ended.
  @usableFromInline
  var replacement: SubscriptionNode? {
    isOpen ? nil : topic.state.withLock { $0.replacements[serial] }
  }

  /// The open subscription at the place: this one or the replacement; `nil` if there is none.
  var current: SubscriptionNode? { isOpen ? self : replacement?.current }

  /// The subscription that a token stands for: this one, or the one by which the same object has replaced it.
  var present: SubscriptionNode { current.flatMap { $0.origin == origin ? $0 : nil } ?? self }

  /// Terminates the subscription, or the one by which the same object has replaced it.
  ///
  /// Must not be called under a lock.
  @inline(never)
  func terminate(as termination: Termination, in call: CallKind? = nil) {
    let replaced = topic.update { index in
      let newer = isOpen ? nil : index.replacements[serial]
      index.terminate(newer?.origin == origin ? newer ?? self : self, as: termination, in: call)
      return isReplaced ? index.ended[endedAddress] : nil
    }
    guard termination == .cancelled, let replaced else { return }
    // The same object's replaced subscriptions begin no further handler, and no replacement waits for them.
    for node in replaced where node.origin == origin { node.leavePlace() }
  }

  /// Cancels a replaced subscription: no further handler of it begins, and the replacement no longer waits for one that
  /// runs.
  func leavePlace() {
    state.bitwiseAnd(~Bits.stillHandles, ordering: .sequentiallyConsistent)
    letReplacementBegin(evenIfAttended: true)
  }

  /// The replacement, if it waits for this subscription's handler.
  var follower: SubscriptionNode? {
    isReplaced && contents.withLock { $0.mailbox.flags.contains(.followed) } ? replacement : nil
  }

  /// Lets the replacement begin, if this mailbox is no longer attended, or, with `isForced`, even while a handler runs.
  private func letReplacementBegin(evenIfAttended isForced: Bool = false) {
    let (isFollowed, owner) = contents.withLock { contents -> (Bool, (any Sendable)?) in
      let flags = contents.mailbox.flags
      guard flags.contains(.followed), isForced || !flags.contains(.attended) else {
        return (false, nil)
      }
      contents.mailbox.flags.remove(.followed)
      // The replacement counts as a worker before this subscription's worker is counted off: a drain must not see the
      // hub idle.
      topic.owner?.countWorker()
      return (true, contents.options?.loop?.owner.take())
    }
    if isFollowed { topic.letReplacementBegin(at: serial) }
    withExtendedLifetime(owner) {}
  }

  /// The first half of a termination: no further call may start.
  ///
  /// Called under the topic's lock.
  func beginTermination(isReplaced: Bool = false) {
    let bits = isReplaced ? Bits.terminated | Bits.stillHandles | Bits.replaced : Bits.terminated
    state.bitwiseOr(bits, ordering: .sequentiallyConsistent)
  }

  /// Whether the mailbox is attended, or a question is being answered.
  var isBusy: Bool {
    let word = state.load(ordering: .sequentiallyConsistent)
    return word & Bits.attended != 0 || word >= Bits.call
  }

  var hasEndedInHand: Bool { state.load(ordering: .sequentiallyConsistent) & Bits.endedInHand != 0 }

  var order: (priority: Int, serial: Int) { (priority, serial) }

  var isAttended: Bool { state.load(ordering: .sequentiallyConsistent) & Bits.attended != 0 }

  /// The second half of a termination: discards and counts the pending notifications, and notes that in their receipts.
  ///
  /// - Returns: what to release outside all locks, because that may run user code.
  @discardableResult
  func completeTermination(
    at end: Int, as termination: Termination, in call: CallKind? = nil
  ) -> (pending: Mailbox.Remains?, options: SubscriptionOptions?) {
    let (pending, options, isMissed, wasQueued, taken) = contents.withLock { contents in
      let pending = contents.mailbox.terminate(at: end, as: termination)
      let wasQueued = contents.mailbox.flags.remove(.queued) != nil
      let options = contents.options
      contents.options = isBusy ? options?.afterEnd(isReplaced: isReplaced) : nil
      // A replayed notification is left out: nobody waits for its handler.
      let mailbox = contents.mailbox
      let taken = mailbox.inHand >= mailbox.joined ? mailbox.inHand : nil
      if taken != nil { state.bitwiseOr(Bits.endedInHand, ordering: .sequentiallyConsistent) }
      // True for a notification in hand, too; if its handler found the subscriber alive, `called` prevents the report
      // below.
      let isMissed = mailbox.isHandling || mailbox.account(published: end).expired > 0
      return (pending, options, isMissed, wasQueued, taken)
    }
    if let taken { topic.noteEndedInHand(taken) }
    wake(options?.loop)
    // The queued mailbox is counted off as a worker here: its executor may be blocked, suspended or gone.
    if wasQueued { topic.owner?.uncountWorker() }
    if hasExecutor { for tell in contents.withLock({ $0.senders }).values { tell() } }
    if termination == .expired, call != nil || isMissed, options?.isKept != true,
      state.load(ordering: .relaxed) & Bits.called == 0, !site.isCalled.load(ordering: .relaxed)
    {
      report(.unheard, in: call ?? .notify, with: options?.id)
    }
    if let pending {
      // Only notifications up to the latest receipt need a look.
      let last = topic.lastReceipt.load(ordering: .acquiring)
      pending.passReceipts(upTo: last + 1 - (end - pending.count), by: reference)
    }
    settle()
    return (pending, options)
  }

  /// Adds the account of an ended subscription to the protocol's sums, if nothing of it runs.
  ///
  /// Also lets a replacement begin, and releases the options. Called at the subscription's end, and at each later end
  /// of a handler.
  func settle() {
    if isReplaced { letReplacementBegin() }
    let rest = contents.withLock { contents -> ((Account, QuestionAccount), StreamLoop?, Bool)? in
      guard !isBusy, contents.mailbox.hasEnded else { return nil }
      return (lastAccount(&contents), contents.options?.loop, contents.options != nil)
    }
    guard let (account, loop, hasOptions) = rest else { return }
    // The handler may end between the section that replaces the subscription and `completeTermination`, which then
    // finds no loop to wake: so this does.
    wake(loop)
    topic.state.withLock { $0.finish(self, with: account) }
    // Released in another task while the hub is alive: a subscriber's `deinit` may take long, and this thread is in a
    // call.
    if hasOptions { topic.owner.map { $0.releaseOptions(of: self) } ?? releaseOptions() }
  }

  /// Completes a cancellation that has begun, if nothing waits or runs, and no executor or loop has to be told.
  ///
  /// Called under the topic's lock.
  ///
  /// - Returns: the account, and the options to release outside the lock; `nil` if nothing was completed.
  func finishIfIdle(
    at end: Int
  ) -> (account: (Account, QuestionAccount), options: SubscriptionOptions?)? {
    contents.withLock { contents in
      // With an executor, questions may have to be told of the end; with a stream, its loop.
      guard !isBusy, contents.mailbox.position == end, !hasExecutor, contents.options?.loop == nil
      else { return nil }
      // Releases only the end of the chain, which the topic retains too.
      _ = contents.mailbox.terminate(at: end, as: .cancelled)
      return (lastAccount(&contents), contents.options.take())
    }
  }

  private func lastAccount(_ contents: inout Contents) -> (Account, QuestionAccount) {
    var questions = questions(&contents)
    // A call that is counted as running now will find that it may not begin.
    questions.answering = 0
    // The mailbox has ended: `published` does not matter.
    return (contents.mailbox.account(published: 0), questions)
  }

  /// Releases the options, which were kept until the last handler had ended.
  func releaseOptions() {
    withExtendedLifetime(contents.withLock { $0.options.take() }) {}
  }

  /// The subscription's id, if it has one; `nil` once the subscription has ended and none of its handlers runs.
  var id: Identity? { contents.withLock { $0.options?.id } }
}

extension DelegateHub {
  /// One subscription to a protocol of a hub; you can end it with this value.
  ///
  /// Releasing the value changes nothing: a subscription ends when it is cancelled or finished, when its subscriber is
  /// unsubscribed or dies, when another object subscribes with an equal `id:`, or when its hub is released. If the same
  /// object subscribes again with another option, the counts begin anew, and earlier values stand for the new
  /// subscription and equal its value.
  public struct Subscription: Sendable, Hashable {
    /// The subscription that the value was made for, which the same object may have replaced since: see
    /// ``SubscriptionNode/present``.
    let node: SubscriptionNode

    /// Ends the subscription.
    ///
    /// An object has one subscription to a protocol: if two components have subscribed the object, the `cancel()` of
    /// either ends it for both. If a subscription with an equal `id:` has replaced this one, and waits because a
    /// handler of this one hangs, `cancel()` lets the new one begin.
    ///
    /// When `cancel()` returns, no call starts on the subscriber any more, not even a call that is under way for
    /// others. A handler that has started may still run. It may even enter the subscriber's method later, if it has yet
    /// to switch to the subscriber's actor, or another thread is just about to call the method. If you cancel on the
    /// main actor, or on the subscription's own serial executor, no synchronous handler is entered there afterwards.
    ///
    /// Notifications that waited are counted as cancelled, and are released before `cancel()` returns: the `deinit` of
    /// an object that only they kept alive runs on the caller's thread. So do not cancel under a lock that this
    /// `deinit` takes. To cancel again does nothing. If another thread is just ending the subscription, that thread
    /// counts and releases the notifications.
    ///
    /// **Isolation.** Works from any thread, from every handler and from `deinit`.
    ///
    /// - Complexity: O(1), amortised, and O(*n*) once for the *n* notifications that only this subscriber had left to
    ///   handle. If a `notifyAndWait` waits for the subscriber, also O(*n*) in the *n* notifications before its own;
    ///   for an object with *n* ended subscriptions to the protocol whose handlers have not returned, O(*n*).
    public func cancel() { node.terminate(as: .cancelled) }

    /// Whether calls may still start: the subscription has not ended, and its subscriber is alive.
    ///
    /// **Isolation.** Works from any thread. The value may be out of date when you read it.
    ///
    /// - Complexity: O(1).
    public var isActive: Bool {
      node.current.map { $0.origin == node.origin && $0.reference.isAlive } ?? false
    }

    /// Whether two values stand for the same subscription.
    ///
    /// - Parameters:
    ///   - lhs: a subscription.
    ///   - rhs: another one.
    /// - Returns: whether they do.
    public static func == (lhs: Subscription, rhs: Subscription) -> Bool {
      lhs.node.origin == rhs.node.origin && lhs.node.topic === rhs.node.topic
    }

    /// Hashes which subscription this is.
    ///
    /// - Parameter hasher: the hasher to feed.
    public func hash(into hasher: inout Hasher) { hasher.combine(node.origin) }
  }
}
