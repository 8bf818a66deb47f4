public import Synchronization

/// One subscription: its subscriber, its topic, and its mailbox.
///
/// It has two independent pieces of state. `state` is one atomic word that says whether calls may start,
/// how many questions were asked, and how many are being answered. `contents` is under a lock of its own, and has the
/// mailbox and the options. The topic's lock is never taken under this one. This one may be taken under the
/// topic's, and only for constant time, because posters wait for the topic's.
///
/// There may be a hundred thousand of them, so the fields are in an order that leaves few gaps.
@usableFromInline
final class SubscriptionNode: Sendable {
  /// The bits of `state`.
  @usableFromInline
  enum Bits {
    /// No further call may start: the termination has begun.
    ///
    /// Set once, under the topic's lock; never cleared.
    @inlinable
    static var terminated: UInt64 { 1 }
    /// A task waits for this subscription's handlers to end.
    @inlinable
    static var awaited: UInt64 { 2 }
    /// There is an executor among the options.
    ///
    /// Written under the lock of the contents.
    @inlinable
    static var hasExecutor: UInt64 { 4 }
    /// A worker attends the mailbox.
    ///
    /// Written under the lock of the contents, together with the mailbox's own flag. It is repeated here so
    /// that it and `terminated` have one order.
    static var attended: UInt64 { 8 }
    /// It ended because another subscription has taken its place; set together with `terminated`.
    static var replaced: UInt64 { 16 }
    /// The subscriber was called.
    @inlinable
    static var called: UInt64 { 32 }
    /// The same as `replaced`, until the subscription is cancelled as well.
    static var succeeded: UInt64 { 64 }
    /// It is a stream's: questions pass it over.
    @inlinable
    static var stream: UInt64 { 1 << 7 }
    /// It has ended while handlers of notifications ran, for which posters with a window do not wait.
    ///
    /// Written under the lock of the contents.
    static var abandoned: UInt64 { 1 << 8 }
    /// One question that it was asked; the bits from here to `full` count them.
    @inlinable
    static var asked: UInt64 { 1 << 9 }
    /// So many were asked that some have to be counted elsewhere, before the bits overflow.
    @inlinable
    static var full: UInt64 { 1 << 31 }
    /// One running question; the upper half of the word counts them.
    @inlinable
    static var call: UInt64 { 1 << 32 }
    /// What a call has to look at before it begins.
    @inlinable
    static var special: UInt64 { terminated | full | stream }
  }

  @usableFromInline
  let reference: WeakReference
  @usableFromInline
  let state: Atomic<UInt64>
  let topic: Topic
  let contents: Lock<Contents>
  /// Where in the source it was made.
  let site: SubscribeSite
  /// Higher is served first.
  let priority: Int
  /// The place's number in the order of subscription, a running number of the topic.
  let serial: Int
  /// A number that only the subscriptions have by which the same object has replaced this one, and which this one has
  /// replaced: tokens of all of them are equal.
  let origin: Int

  /// The state under the lock.
  struct Contents: Sendable {
    var mailbox: Mailbox
    /// The options that the user named; `nil` if there are none.
    ///
    /// From the end on only its name is left, as long as handlers run.
    var options: SubscriptionOptions?
    /// What is to be added to what `state` says of questions.
    ///
    /// Empty, or one: of an optional the runtime would look up the type.
    var corrections: [QuestionAccount] = []
    /// What tells each question that waits for its executor that it has ended.
    var senders: [ObjectIdentifier: @Sendable () -> Void] = [:]
  }

  init(
    reference: consuming WeakReference, topic: Topic, mailbox: Mailbox,
    options: SubscriptionOptions?, site: SubscribeSite, priority: Int, serial: Int, origin: Int
  ) {
    self.reference = reference
    self.topic = topic
    state = Atomic(options?.initialState ?? 0)
    contents = Lock(Contents(mailbox: mailbox, options: options))
    self.site = site
    self.priority = priority
    self.serial = serial
    self.origin = origin
  }

  // MARK: Life

  /// The subscriber's address, by which indexes know the subscription.
  var address: Int { Int(bitPattern: reference.identity) }

  /// The address by which an ended one is found: its owner's, if it has one.
  var endedAddress: Int { reference.owner ?? address }

  /// Whether calls may still start, and the subscriber is alive, or the same object has replaced the subscription by one
  /// of which that is true.
  ///
  /// Must not be called under a lock: see ``WeakReference/isAlive``.
  var isActive: Bool { current.map { $0.origin == origin && $0.reference.isAlive } ?? false }

  /// Whether calls may still start.
  var isOpen: Bool { state.load(ordering: .sequentiallyConsistent) & Bits.terminated == 0 }

  /// Whether it has ended because another one, with the same serial number, has taken its place.
  var isReplaced: Bool { state.load(ordering: .sequentiallyConsistent) & Bits.replaced != 0 }

  /// The open subscription that has replaced it.
  @usableFromInline
  var heir: SubscriptionNode? { isOpen ? nil : topic.state.withLock { $0.heirs[serial] } }

  /// The open subscription at its place: this one, or what has replaced it; `nil` if it has ended otherwise.
  var current: SubscriptionNode? { isOpen ? self : heir?.current }

  /// The subscription that a token stands for: this one, or the one by which the same object has replaced it.
  var present: SubscriptionNode { current.flatMap { $0.origin == origin ? $0 : nil } ?? self }

  /// Ends the subscription once the notifications up to a number have been handled.
  func finish(at number: Int) {
    contents.withLock { $0.mailbox.finish(at: number) }
    topic.terminateIfOver(self)
  }

  /// Terminates the subscription, unless that has been done; and the one by which the same object has replaced it.
  ///
  /// Must not be called under a lock.
  ///
  /// - Parameters:
  ///   - termination: how it is terminated.
  ///   - call: the call that found the subscriber dead, if one did.
  @inline(never)
  func terminate(as termination: Termination, in call: CallKind? = nil) {
    let replaced = topic.update { index in
      let heir = isOpen ? nil : index.heirs[serial]
      index.terminate(heir?.origin == origin ? heir ?? self : self, as: termination, in: call)
      return isReplaced ? index.ended[endedAddress] : nil
    }
    guard termination == .cancelled, let replaced else { return }
    for node in replaced where node.origin == origin { node.leavePlace() }
  }

  /// Lets the subscription that has its place go on, if this one was replaced: no handler of what this one has taken
  /// begins any more, and nobody waits for one that runs.
  func leavePlace() {
    state.bitwiseAnd(~Bits.succeeded, ordering: .sequentiallyConsistent)
    letFollowerGo(past: true)
  }

  /// The subscription that has its place, and waits for its handler.
  var follower: SubscriptionNode? {
    isReplaced && contents.withLock { $0.mailbox.flags.contains(.followed) } ? heir : nil
  }

  /// Lets the subscription that has its place begin, if nothing of this one is being handled any more.
  ///
  /// - Parameter isHandling: whether that does not matter.
  private func letFollowerGo(past isHandling: Bool = false) {
    let (isFollowed, owner) = contents.withLock { contents -> (Bool, (any Sendable)?) in
      let flags = contents.mailbox.flags
      guard flags.contains(.followed), isHandling || !flags.contains(.attended) else {
        return (false, nil)
      }
      contents.mailbox.flags.remove(.followed)
      // Counted before this one's worker is counted off: a drain must not see the hub idle in between.
      topic.owner?.begin()
      return (true, contents.options?.loop?.owner.take())
    }
    if isFollowed { topic.letFollowerGo(at: serial) }
    withExtendedLifetime(owner) {}
  }

  /// The first half of a termination: no further call may start.
  ///
  /// Called under the topic's lock.
  ///
  /// - Parameter isSucceeded: whether another subscription takes its place.
  func beginTermination(isSucceeded: Bool = false) {
    let bits = isSucceeded ? Bits.terminated | Bits.succeeded | Bits.replaced : Bits.terminated
    state.bitwiseOr(bits, ordering: .sequentiallyConsistent)
  }

  /// Whether a worker attends the mailbox, or a question is answered.
  var isBusy: Bool {
    let word = state.load(ordering: .sequentiallyConsistent)
    return word & Bits.attended != 0 || word >= Bits.call
  }

  /// Whether it has ended while handlers of notifications ran.
  var isAbandoned: Bool { state.load(ordering: .sequentiallyConsistent) & Bits.abandoned != 0 }

  /// Where it is served: by priority, then by serial.
  var order: (priority: Int, serial: Int) { (priority, serial) }

  /// Whether a worker attends the mailbox.
  var isAttended: Bool { state.load(ordering: .sequentiallyConsistent) & Bits.attended != 0 }

  /// The second half of a termination: accounts for the pending notifications, and passes their receipts.
  ///
  /// - Returns: what is to be released, which may run user code: not under a lock.
  @discardableResult
  func completeTermination(
    at end: Int, as termination: Termination, in call: CallKind? = nil
  ) -> (pending: Mailbox.Remains?, options: SubscriptionOptions?) {
    let (pending, options, isMissed, wasQueued, taken) = contents.withLock { contents in
      let pending = contents.mailbox.terminate(at: end, as: termination)
      let wasQueued = contents.mailbox.flags.remove(.queued) != nil
      let options = contents.options
      contents.options = isBusy ? options?.afterEnd(isReplaced: isReplaced) : nil
      let taken = contents.mailbox.awaited
      if taken != nil { state.bitwiseOr(Bits.abandoned, ordering: .sequentiallyConsistent) }
      return (pending, options, contents.mailbox.hasMissed(end), wasQueued, taken)
    }
    if let taken { topic.abandon(taken) }
    wake(options?.loop)
    // The executor may be busy, suspended or gone.
    if wasQueued { topic.owner?.end() }
    if hasExecutor { for tell in contents.withLock({ $0.senders }).values { tell() } }
    if termination == .expired, call != nil || isMissed, options?.isKept != true {
      reportIfUnheard(in: call ?? .notify, id: options?.id)
    }
    if let pending {
      // No receipt is looked for behind the latest one that was posted.
      let last = topic.lastReceipt.load(ordering: .acquiring)
      pending.passReceipts(upTo: last + 1 - (end - pending.count), by: reference)
    }
    settle()
    return (pending, options)
  }

  /// Adds its account to its protocol's sums if it has ended and nothing of it runs.
  ///
  /// Called when it has ended, and by each end of a handler that finds that it has.
  func settle() {
    if isReplaced { letFollowerGo() }
    typealias Rest = (account: (Account, QuestionAccount), loop: StreamLoop?, hasOptions: Bool)
    let rest = contents.withLock { contents -> Rest? in
      guard !isBusy, contents.mailbox.hasEnded else { return nil }
      return (lastAccount(&contents), contents.options?.loop, contents.options != nil)
    }
    guard let rest else { return }
    // After a take-over this may come before the termination is finished, which finds no loop then.
    wake(rest.loop)
    topic.state.withLock { $0.finish(self, with: rest.account) }
    // A subscriber that the hub has kept: its `deinit` may take its time, and a question or a delivery goes on from here.
    if rest.hasOptions { topic.owner.map { $0.releaseOptions(of: self) } ?? releaseOptions() }
  }

  /// Finishes a cancellation that has begun, if nothing waits or runs.
  ///
  /// Called under the topic's lock.
  ///
  /// - Parameter end: how many notifications have been posted.
  /// - Returns: its account, and what is to be released outside the lock; `nil` if something waits or runs.
  func finishIfIdle(
    at end: Int
  ) -> (account: (Account, QuestionAccount), options: SubscriptionOptions?)? {
    contents.withLock { contents in
      // With an executor or a loop, others may have to be told.
      guard !isBusy, contents.mailbox.position == end, !hasExecutor, contents.options?.loop == nil
      else { return nil }
      // What remains is the end of the chain, which the topic keeps as well.
      _ = contents.mailbox.terminate(at: end, as: .cancelled)
      return (lastAccount(&contents), contents.options.take())
    }
  }

  private func lastAccount(_ contents: inout Contents) -> (Account, QuestionAccount) {
    var questions = questions(&contents)
    // A call that has just begun finds that it must not.
    questions.answering = 0
    return (contents.mailbox.account(published: 0), questions)
  }

  /// Releases what it has kept while its last handler ran.
  func releaseOptions() {
    let options = contents.withLock { $0.options.take() }
    withExtendedLifetime(options) {}
  }

  /// The id, if one was given, until the subscription has ended and none of its handlers runs.
  var id: Identity? { contents.withLock { $0.options?.id } }

  /// Whether there is an executor among the options.
  @inlinable
  var hasExecutor: Bool { state.load(ordering: .relaxed) & Bits.hasExecutor != 0 }

  /// The executor of its handlers, if one was named.
  var executor: (any TaskExecutor)? {
    // The bit spares most subscriptions the lock.
    hasExecutor ? contents.withLock { $0.options?.executor } : nil
  }
}

extension SubscriptionOptions {
  /// The first state of a subscription that has them.
  fileprivate var initialState: UInt64 {
    typealias Bits = SubscriptionNode.Bits
    return (executor == nil ? 0 : Bits.hasExecutor) | (loop == nil ? 0 : Bits.stream)
  }
}

extension DelegateHub {
  /// A subscriber's place in a hub, with which you can end it.
  ///
  /// Releasing the value changes nothing: a subscription ends when it is cancelled or finished, when its subscriber
  /// is unsubscribed or dies, when another object takes its place, or when its hub is released. Two values are equal if
  /// they stand for the same object's subscription at one place: one that subscribes again with another option has new
  /// counts, and its tokens stay good.
  public struct Subscription: Sendable, Hashable {
    /// The subscription that it was made for, which the same object may have replaced since: see
    /// ``SubscriptionNode/present``.
    let node: SubscriptionNode

    /// Ends the subscription.
    ///
    /// An object has one subscription at a place, whoever has subscribed it: if two components have, each one's `cancel()`
    /// ends it for both. If another object has taken the place, and waits for a handler of this subscription that hangs,
    /// this lets it begin.
    ///
    /// When it returns, no call starts on the subscriber any more, not even a call that is under
    /// way for others. A handler that has started may still run. If it has yet to switch to the
    /// subscriber's actor, or a worker on another thread is just about to call it, the method may still be
    /// entered. If you cancel on the main actor, or on the subscription's own serial executor, no synchronous
    /// handler is entered there afterwards.
    ///
    /// Notifications that waited are counted as cancelled, and are released before it returns: a `deinit` of an
    /// object that only they kept alive runs in the caller's place. So do not cancel under a lock that it takes. To cancel
    /// again does nothing. If another thread is just ending the subscription, that thread counts and releases them.
    ///
    /// **Isolation.** Works from any thread, from every handler and from `deinit`.
    ///
    /// - Complexity: O(1), amortised, and O(*n*) once for the *n* notifications that only this subscriber had
    ///   left to handle. If a `notifyAndWait` waits for the subscriber, also O(*n*) in the *n*
    ///   notifications before that one; for an object with *n* ended subscriptions to the protocol whose handlers have
    ///   not returned, O(*n*).
    public func cancel() {
      node.terminate(as: .cancelled)
    }

    /// Whether calls may still start: the subscription was not cancelled, and its subscriber and
    /// hub are alive.
    ///
    /// **Isolation.** Works from any thread. What it says may be out of date by the time it is read.
    ///
    /// - Complexity: O(1).
    public var isActive: Bool {
      node.isActive
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
    public func hash(into hasher: inout Hasher) {
      hasher.combine(node.origin)
    }
  }
}
