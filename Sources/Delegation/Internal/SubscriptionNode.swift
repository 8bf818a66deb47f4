internal import Synchronization

/// One subscription: who, to what, and how far.
///
/// Two independent pieces of state: `state`, one atomic word that says whether calls may start and
/// how many votes are being answered, and `mailbox`, under its own lock, for notifications.
/// Lock order: the inbox's lock, then the mailbox's.
final class SubscriptionNode: Sendable {
  /// The bits of `state`.
  private enum Bits {
    /// No further call may start. Set once, under the inbox's lock; never cleared.
    static let closed: UInt = 1
    /// Somebody waits for this subscription's calls to end.
    static let awaited: UInt = 2
    /// One call of the asking kind. The rest of the word counts them.
    static let call: UInt = 4
  }

  /// What the caller gave us, let go when the subscription ends.
  struct Belongings: Sendable {
    /// The subscriber itself if the hub is to keep it alive.
    var subscriber: (any Sendable)?
    /// Who this is, if not the object.
    var id: Identity?
  }

  let reference: WeakReference
  let channel: Channel
  let inbox: Inbox
  let mailbox: Lock<Mailbox>
  let belongings: Lock<Belongings>
  let site: Site
  let subscriberType: any AnyObject.Type
  /// Higher is served first. Written under the inbox's lock, read by the hub's actor when it sorts.
  let priority: Atomic<Int>
  /// The order of subscription: the inbox's running number.
  let serial: Int
  private let state = Atomic<UInt>(0)

  init(
    reference: consuming WeakReference, channel: Channel, inbox: Inbox, mailbox: Mailbox,
    belongings: Belongings, subscriberType: any AnyObject.Type, site: Site, priority: Int,
    serial: Int
  ) {
    self.reference = reference
    self.channel = channel
    self.inbox = inbox
    self.mailbox = Lock(mailbox)
    self.belongings = Lock(belongings)
    self.subscriberType = subscriberType
    self.site = site
    self.priority = Atomic(priority)
    self.serial = serial
  }

  // MARK: Life

  /// Whether calls may still start.
  var isOpen: Bool { state.load(ordering: .sequentiallyConsistent) & Bits.closed == 0 }

  /// Forbids further calls. Called under the inbox's lock.
  func forbidCalls() {
    state.bitwiseOr(Bits.closed, ordering: .sequentiallyConsistent)
  }

  /// Ends the subscription, if nobody has yet. Must not be called under a lock.
  func close(as reason: Closing) {
    guard let end = inbox.remove(self) else { return }
    settle(at: end, as: reason)
  }

  /// Accounts for what waits, and lets go of what was given to us, after ``forbidCalls()``.
  ///
  /// Foreign `deinit`s may run here: must not be called under a lock or on the hub's actor.
  func settle(at end: Int, as reason: Closing) {
    // The lock's results are let go after it was unlocked, at the end of this function.
    let chain = mailbox.withLock { $0.close(at: end, as: reason) }
    let belongings = belongings.withLock { belongings in
      defer { belongings = Belongings() }
      return belongings
    }
    withExtendedLifetime((chain, belongings)) {}
  }

  /// The subscriber, or `nil` if it has died, in which case the subscription is closed as expired.
  @inline(__always)
  func subscriber<P>(as type: P.Type) -> P? {
    if let subscriber = reference.load(as: type) { return subscriber }
    close(as: .expired)
    return nil
  }

  /// Keeps the subscriber alive, or no longer. Must not be called under a lock.
  func setHeld(_ subscriber: (any Sendable)?) {
    let previous = belongings.withLock { belongings in
      defer { if isOpen { belongings.subscriber = subscriber } }
      return belongings.subscriber
    }
    withExtendedLifetime(previous) {}
  }

  // MARK: Calls

  /// Counts a call of the asking kind, unless none may start.
  func beginCall() -> Bool {
    let word = state.wrappingAdd(Bits.call, ordering: .sequentiallyConsistent).oldValue
    guard word & Bits.closed == 0 else {
      endCall()
      return false
    }
    return true
  }

  /// Ends what ``beginCall()`` began.
  func endCall() {
    let word = state.wrappingSubtract(Bits.call, ordering: .sequentiallyConsistent).newValue
    if word & Bits.awaited != 0 { inbox.reconsiderWaits() }
  }

  /// Begins to attend the mailbox; see ``Mailbox/attend(published:)``.
  func attend() -> Notification.Handler? {
    guard isOpen else { return nil }
    return mailbox.withLock { mailbox in
      mailbox.attend(published: channel.published.load(ordering: .acquiring))
    }
  }

  /// Reports a notification's fate; see ``Mailbox/advance(after:published:)``.
  func advance(after fate: Mailbox.Fate) -> Mailbox.Step {
    let step = mailbox.withLock { mailbox in
      mailbox.advance(after: fate, published: channel.published.load(ordering: .acquiring))
    }
    if case .rest = step { didRest() }
    return step
  }

  /// Goes on after a pause; see ``Mailbox/resume(published:)``.
  func resume() -> Mailbox.Step {
    let step = mailbox.withLock { mailbox in
      mailbox.resume(published: channel.published.load(ordering: .acquiring))
    }
    if case .rest = step { didRest() }
    return step
  }

  /// How many of this subscription's handlers are running or about to.
  var runningCalls: Int {
    let asked = Int(state.load(ordering: .sequentiallyConsistent) / Bits.call)
    return asked + (mailbox.withLock { $0.isAttended } ? 1 : 0)
  }

  /// What became of the notifications addressed to this subscription so far.
  var account: Account {
    let published = channel.published.load(ordering: .acquiring)
    return mailbox.withLock { $0.account(published: published) }
  }

  /// Makes the ends of calls be told to those who wait.
  func announceEnds() {
    state.bitwiseOr(Bits.awaited, ordering: .sequentiallyConsistent)
  }

  private func didRest() {
    if state.load(ordering: .sequentiallyConsistent) & Bits.awaited != 0 {
      inbox.reconsiderWaits()
    }
  }
}

extension SubscriptionNode: CustomStringConvertible {
  var description: String {
    let type = String(reflecting: subscriberType)
    guard let id = belongings.withLock({ $0.id }) else { return type }
    return "\(type) (\(id))"
  }
}

extension SubscriptionNode: RosterMember {
  var rank: Int { priority.load(ordering: .relaxed) }
  var isGone: Bool { !isOpen }
  var isAtRest: Bool { mailbox.withLock { !$0.isAttended } }
}
