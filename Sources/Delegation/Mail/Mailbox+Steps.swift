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
    static let taken: Flags = [.attended, .queued, .following]
  }
}
