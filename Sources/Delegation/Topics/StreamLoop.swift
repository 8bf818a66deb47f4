internal import Synchronization

/// What the iterators of one stream share; the loops themselves are in the user's code.
///
/// `@unchecked Sendable`: the variables are used under the lock of the subscription's contents only.
final class StreamLoop: @unchecked Sendable {
  /// The notification that a loop has *in hand* (taken, and not yet put down), and its fate so far.
  typealias Hand = (number: Int, receipt: Receipt?, fate: Notification.Fate)

  /// Resumes the loop that waits for the next event; `nil` if no loop waits.
  @exclusivity(unchecked)
  var waiter: Waiter?
  @exclusivity(unchecked)
  var hand: Hand?
  /// How many events were taken since a loop last waited, or let other tasks run.
  @exclusivity(unchecked)
  var takenInARow = 0
  /// The hub's core, kept alive while a replacement waits for the notification in hand; otherwise `nil`.
  @exclusivity(unchecked)
  var owner: (any Sendable)?

  /// The event that the running handler has brought, and the waiters of other loops, which wait for its return.
  ///
  /// Another loop may begin if the first one's task was cancelled.
  private let taking = Lock((event: (any Sendable)?.none, waiting: [Waiter]()))
  /// Whether a notification's handler runs in a loop's task.
  ///
  /// Set under the lock of the contents, cleared under that of `taking`.
  private let isOpen = Atomic(false)

  /// A waiter for a loop that comes while a handler runs in another loop's task; `nil` if no handler runs.
  func waitForTaking() -> Waiter? {
    if !isOpen.load(ordering: .acquiring) { return nil }
    return taking.withLock { taking in
      if !isOpen.load(ordering: .relaxed) { return nil }
      taking.waiting.append(Waiter())
      return taking.waiting.last
    }
  }

  /// Notes that a notification's handler begins, which may bring an event.
  ///
  /// Called under the lock of the contents.
  func open() { isOpen.store(true, ordering: .releasing) }

  /// Keeps the event that the running handler brings; returns false, and keeps nothing, for a handler's second event,
  /// and while no handler runs.
  func add(_ event: any Sendable) -> Bool {
    taking.withLock { taking in
      guard isOpen.load(ordering: .relaxed), taking.event == nil else { return false }
      taking.event = event
      return true
    }
  }

  /// Notes that the handler has returned, and takes out its event and the waiting loops.
  func close() -> (event: (any Sendable)?, waiting: [Waiter]) {
    taking.withLock { taking in
      isOpen.store(false, ordering: .releasing)
      return exchange(&taking, with: (nil, []))
    }
  }
}
