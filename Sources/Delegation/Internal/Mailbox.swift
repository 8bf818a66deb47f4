/// One subscriber's place in its protocol's chain of notifications, and the account of those passed.
///
/// At most one worker *attends* a mailbox at a time: it takes a notification, runs the handler outside
/// the lock, reports how that went and gets the next. A worker that finds a mailbox attended leaves a
/// note and goes on; the attending one serves what the note stands for. So the subscriber handles one
/// notification at a time, in the chain's order, and no worker waits for another.
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
    /// Run this handler, then report.
    case handle(Notification.Handler)
    /// More came and another worker relied on this one: let others run first, then ``resume(published:)``.
    case yield
    /// Nothing is left to do; the mailbox is no longer attended.
    case rest
  }

  /// The first notification not taken, or the placeholder; `nil` once closed.
  private var next: Notification?
  /// The number of `next`.
  private var position: Int
  /// The number at which the subscription began.
  private let start: Int
  /// The number at which the attending worker pauses, so that a flood cannot hold it for ever.
  private var limit = 0
  /// The number at which the subscription ended, and how; `nil` while it is open.
  private var end: (number: Int, reason: Closing)?
  /// A worker is between taking a notification and reporting its fate, or about to take one.
  private(set) var isAttended = false
  /// Another worker came by while the mailbox was attended.
  private var isCalledFor = false
  /// A taken notification's handler is running.
  private var isHandling = false
  private var handled = 0
  private var failed = 0

  /// Starts at the end of the chain: what was posted before is for others.
  init(at placeholder: Notification, number: Int) {
    next = placeholder
    position = number
    start = number
  }

  /// Begins to attend the mailbox if something waits in it and no other worker does.
  ///
  /// - Parameter published: how many notifications have been posted.
  /// - Returns: the first handler to run, or `nil` if there is nothing to do here.
  mutating func attend(published: Int) -> Notification.Handler? {
    if isAttended {
      isCalledFor = true
      return nil
    }
    guard end == nil, position < published else { return nil }
    isAttended = true
    limit = published
    return take()
  }

  /// Reports what became of the notification that was taken.
  ///
  /// - Returns: what the attending worker does next.
  mutating func advance(after fate: Fate, published: Int) -> Step {
    isHandling = false
    switch fate {
    case .handled: handled += 1
    case .failed: failed += 1
    case .skipped: break
    }
    if end == nil {
      if position < limit { return .handle(take()) }
      // Without a note, the wave that brings what was posted since has yet to come by.
      if isCalledFor, position < published { return .yield }
    }
    isAttended = false
    isCalledFor = false
    return .rest
  }

  /// Goes on after ``Step/yield``.
  mutating func resume(published: Int) -> Step {
    isCalledFor = false
    limit = published
    if end == nil, position < limit { return .handle(take()) }
    isAttended = false
    return .rest
  }

  /// Ends the subscription: what waits will not be handled.
  ///
  /// - Parameters:
  ///   - number: how many notifications had been posted when the subscription ended.
  ///   - reason: how it ended.
  /// - Returns: the chain that waited, for the caller to let go outside the lock.
  mutating func close(at number: Int, as reason: Closing) -> Notification? {
    guard end == nil else { return nil }
    end = (number, reason)
    defer { next = nil }
    return next
  }

  /// Ends this mailbox where it stands and gives what waits to a successor.
  mutating func handOver() -> Mailbox? {
    guard end == nil, let first = next else { return nil }
    end = (position, .cancelled)
    next = nil
    return Mailbox(at: first, number: position)
  }

  /// The account of this subscription when that many notifications have been posted.
  func account(published: Int) -> Account {
    var account = Account()
    account.handled = handled
    account.failed = failed
    guard let end else {
      account.waiting = published - start - handled - failed
      return account
    }
    // One that was taken after the end, and will be skipped, was never addressed to this subscriber.
    account.waiting = isHandling && position <= end.number ? 1 : 0
    let lost = end.number - start - handled - failed - account.waiting
    switch end.reason {
    case .cancelled: account.cancelled = lost
    case .expired: account.expired = lost
    }
    return account
  }

  private mutating func take() -> Notification.Handler {
    guard let notification = next, let handler = notification.handler else {
      fatalError("Delegation: a notification was counted before it was posted")
    }
    // The last reference to the notification may go here, under the lock; its handler and its
    // successor live on in what is returned and in `next`, so no foreign `deinit` can run.
    next = notification.next
    position += 1
    isHandling = true
    return handler
  }
}

/// How a subscription ends.
enum Closing: Sendable {
  /// It was cancelled, unsubscribed, or its hub was released.
  case cancelled
  /// Its subscriber died.
  case expired
}

/// What became of the notifications that were addressed to a subscriber, or to several.
struct Account: Sendable, Hashable {
  var handled = 0
  var failed = 0
  var expired = 0
  var cancelled = 0
  var waiting = 0

  static func += (account: inout Account, other: Account) {
    account.handled += other.handled
    account.failed += other.failed
    account.expired += other.expired
    account.cancelled += other.cancelled
    account.waiting += other.waiting
  }
}
