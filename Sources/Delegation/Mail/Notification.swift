internal import Synchronization

/// One notification, shared by all subscriptions that it is addressed to, and a link to the next one.
///
/// The notifications of a protocol form a chain that ends in an empty placeholder. Posting fills the placeholder and
/// appends a new one. Each subscription keeps a reference to the first notification that it has not taken, or to the
/// placeholder. So a slow subscription costs the others nothing, and when the last one moves on, the notification and
/// its handler's captures are released.
///
/// A subscription *passes* a notification once: when the handler has returned or thrown, or the notification is passed
/// over, dropped or discarded.
///
/// `@unchecked Sendable`: `content` and `next` are written once, under the topic's lock and before the
/// topic's `published` counts the notification. They are read only after a load of `published` that
/// includes the notification, or by the last owner.
@usableFromInline
final class Notification: @unchecked Sendable {
  /// What became of a notification at one subscription.
  @usableFromInline
  enum Fate: Sendable {
    case handled
    /// The handler threw.
    case failed
    /// An interceptor did not call the handler.
    case passedOver
    /// The subscriber was not called: it does not conform to a further protocol that the call names.
    case notAddressed
    /// The subscriber was not called: it was found dead, its subscription has ended, or the notification was dropped.
    case expired
  }

  /// The closure that a notification calls with each subscriber.
  @usableFromInline
  enum Handler: Sendable {
    case synchronous(Synchronous)
    case asynchronous(Asynchronous)
    /// A handler with task-locals of the poster bound around it; indirect, because few notifications have task-locals.
    indirect case bound(Handler, in: TaskLocalPropagation.Context)
  }

  @usableFromInline
  typealias Synchronous = @Sendable (borrowing WeakReference) throws -> Fate

  /// A handler that runs in the worker's task, without a switch of executors.
  @usableFromInline
  typealias Asynchronous =
    nonisolated(nonsending) @Sendable (borrowing WeakReference) async throws -> Fate

  /// A notification's handler and receipt.
  struct Content: Sendable {
    var handler: Handler
    /// Counts the subscriptions that have yet to pass the notification; `nil` if no caller waits for that.
    var receipt: Receipt?

    /// The task-locals of the poster that are bound around the handler.
    var context: TaskLocalPropagation.Context {
      if case .bound(_, let context) = handler { context } else { [] }
    }
  }

  private(set) var content: Content?
  private(set) var next: Notification?

  /// Turns the placeholder into a notification.
  ///
  /// Called under the topic's lock.
  func fill(with content: Content, followedBy placeholder: Notification) {
    self.content = content
    next = placeholder
  }

  /// Releases a long chain link by link: recursion would exhaust the stack.
  deinit {
    var rest = next
    next = nil
    while isKnownUniquelyReferenced(&rest) {
      // The uniqueness check is relaxed; the fence makes what other owners did before their release visible.
      atomicMemoryFence(ordering: .acquiring)
      let following = rest?.next
      rest?.next = nil
      rest = following
    }
  }
}

extension Notification.Handler {
  nonisolated(nonsending) func callAsFunction(
    _ reference: borrowing WeakReference
  ) async throws -> Notification.Fate {
    switch self {
    case .synchronous(let handle): return try handle(reference)
    case .asynchronous(let handle): return try await handle(reference)
    case .bound(let handler, let context):
      var result: Result<Notification.Fate, any Error>?
      await context.bind {
        do { result = .success(try await handler(reference)) } catch {
          result = .failure(error)
        }
      }
      return try result?.get() ?? .expired
    }
  }
}

/// The counts of what became of one notification, for its `notifyAndWait`.
@usableFromInline
final class Receipt: Sendable {
  /// Where a receipt's notification was posted: the topic's number, the notification's, and how many receipts the topic
  /// had had before.
  typealias Position = (topic: Int, number: Int, order: Int)

  /// Set once, by ``open(at:addressees:)``; `nil` if nothing was posted, because nobody was subscribed.
  private let postedAt = Lock<Position?>(nil)
  /// Whether a subscriber conforms to the call's further protocols; `nil` if there are none.
  private let admits: RecipientFilter?
  /// How many subscriptions have yet to pass the notification.
  let outstanding = AwaitedCount()
  /// How many subscriptions the notification was addressed to, without those found not to conform.
  let addressed = Atomic(0)
  let handled = Atomic(0)
  let failed = Atomic(0)
  let missed = Atomic(0)
  /// How many of the ``outstanding`` subscriptions have ended while their handlers ran.
  let endedInHand = Atomic(0)

  init(admitting admits: RecipientFilter?) { self.admits = admits }

  /// Sets where the notification was posted, and how many subscriptions have yet to pass it.
  ///
  /// Called under the topic's lock, before any subscription can pass the notification.
  func open(at position: Position, addressees: Int) {
    postedAt.withLock { $0 = position }
    addressed.store(addressees, ordering: .relaxed)
    outstanding.rise(by: addressees)
  }

  /// Notes that a subscription has passed the notification; `hasEndedInHand` says whether the subscription is counted
  /// in ``endedInHand``.
  ///
  /// Must not be called under a lock.
  func pass(as fate: Notification.Fate, hasEndedInHand: Bool = false) {
    // All counts change before `outstanding` falls: a thread that finds none outstanding finds the counts complete.
    if hasEndedInHand { endedInHand.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
    switch fate {
    case .handled: handled.wrappingAdd(1, ordering: .relaxed)
    case .failed: failed.wrappingAdd(1, ordering: .relaxed)
    case .notAddressed: addressed.wrappingSubtract(1, ordering: .relaxed)
    case .passedOver, .expired: missed.wrappingAdd(1, ordering: .relaxed)
    }
    outstanding.fall()
  }

  /// Notes that a subscription has dropped or discarded the notification.
  ///
  /// Must not be called under a lock.
  func passUnhandled(by subscriber: borrowing WeakReference) {
    let isAddressed = admits.flatMap { subscriber.living.map($0) } ?? true
    pass(as: isAddressed ? .expired : .notAddressed)
  }

  var position: Position? { postedAt.withLock { $0 } }

  /// Whether all subscriptions have passed the notification.
  var isPassed: Bool { outstanding.value == 0 }
}

/// The receipts of one protocol in the order of posting; those that all subscriptions have passed are removed in
/// batches.
struct ReceiptQueue: Sendable {
  typealias Entry = (position: Receipt.Position, receipt: Receipt)

  private var entries: [Entry] = []
  /// How many receipts were ever added.
  private(set) var total = 0
  /// How many calls of `notifyAndWait` have returned since receipts were last removed.
  private var returned = 0

  var count: Int { entries.count }

  mutating func add(_ receipt: Receipt, at position: Receipt.Position) {
    entries.append((position, receipt))
    total += 1
  }

  /// Notes that a `notifyAndWait` has returned; after many of them, removes the receipts that all subscriptions have
  /// passed.
  ///
  /// - Returns: what to release outside the lock.
  /// - Complexity: O(1), amortised.
  mutating func noteReturn() -> [Entry] {
    returned += 1
    if returned < max(16, entries.count / 2) { return [] }
    returned = 0
    defer { entries = entries.filter { !$0.receipt.isPassed } }
    return entries
  }

  /// The receipt whose position has a number; `nil` if there is none, or all subscriptions have passed it.
  ///
  /// `key` says which number of a position is meant; that number grows from each receipt to the next.
  ///
  /// - Complexity: O(log *n*) in the number of receipts.
  func find(_ number: Int, by key: (Receipt.Position) -> Int) -> Receipt? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if key(entries[middle].position) < number { low = middle + 1 } else { high = middle }
    }
    guard low < entries.count, key(entries[low].position) == number else { return nil }
    // A passed receipt is left out: to wait for it would cost as much as a delivery.
    return entries[low].receipt.isPassed ? nil : entries[low].receipt
  }
}
