internal import Synchronization

/// One notification, shared by all subscriptions that it is addressed to, and a link to the next one.
///
/// The notifications of a protocol form a chain that ends in an empty placeholder. Posting fills the
/// placeholder and appends a new one. Each subscription keeps a reference to the first notification that
/// it has not handled, or to the placeholder. So a notification is stored once for all subscriptions, one
/// that lags costs the others nothing, and when the last one moves on, the notification and its handler's
/// captures are released.
///
/// `@unchecked Sendable`: `content` and `next` are written once, under the topic's lock and before the
/// topic's `published` counts the notification. They are read only after a load of `published` that
/// includes the notification, or by the last owner.
@usableFromInline
final class Notification: @unchecked Sendable {
  /// What became of a notification that was taken.
  @usableFromInline
  enum Fate: Sendable {
    /// The handler returned.
    case handled
    /// The handler threw.
    case failed
    /// The handler was not called: an interceptor has kept it away.
    case passedOver
    /// The handler was not called: it is for those that conform to a further protocol, and the subscriber does not.
    case notAddressed
    /// The handler was not called: the subscriber was found dead, or its subscription has ended.
    case expired
  }

  /// The closure that is called with each subscriber.
  @usableFromInline
  enum Handler: Sendable {
    case synchronous(Synchronous)
    case asynchronous(Asynchronous)
    /// With task-locals of the poster, which are bound around it; it is in a box, for few notifications have any.
    indirect case bound(Handler, in: TaskLocalPropagation.Context)
  }

  @usableFromInline
  typealias Synchronous = @Sendable (borrowing WeakReference) throws -> Fate

  /// Runs in the worker's task without an executor hop.
  @usableFromInline
  typealias Asynchronous =
    nonisolated(nonsending) @Sendable (borrowing WeakReference) async throws -> Fate

  /// What a notification carries.
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
  /// Calls a subscriber.
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

/// What becomes of a notification that a caller waits for.
///
/// A subscription passes it once: when its handler has returned or thrown, or when the notification is
/// dropped or discarded.
@usableFromInline
final class Receipt: Sendable {
  /// Where it was posted: the number of the topic, which no other hub's has, that of the notification, and how many
  /// with a receipt had been posted there before.
  typealias Position = (topic: Int, number: Int, order: Int)

  /// Set once, by ``open(at:addressees:)``; `nil` if it was posted to nobody.
  private let postedAt = Lock<Position?>(nil)
  /// Whether one conforms to the further protocols; `nil` for all.
  private let admits: RecipientFilter?
  /// How many subscriptions have yet to pass it.
  let outstanding = AwaitedCount()
  /// How many subscriptions it was addressed to, without those that are found not to conform.
  let addressed = Atomic(0)
  let handled = Atomic(0)
  let failed = Atomic(0)
  let missed = Atomic(0)
  /// How many of those that have yet to pass it have ended, while their handlers ran.
  let abandoned = Atomic(0)

  init(admitting admits: RecipientFilter?) { self.admits = admits }

  /// Sets what to wait for.
  ///
  /// Called under the topic's lock, before a subscription can pass.
  func open(at position: Position, addressees: Int) {
    postedAt.withLock { $0 = position }
    addressed.store(addressees, ordering: .relaxed)
    outstanding.rise(by: addressees)
  }

  /// Counts off one subscription, for which the notification has ended so.
  ///
  /// Must not be called under a lock.
  ///
  /// - Parameters:
  ///   - fate: what became of it.
  ///   - isAbandoned: whether it is one of ``abandoned``.
  func pass(as fate: Notification.Fate, isAbandoned: Bool = false) {
    // Before the fall: who finds that all have passed finds all of them counted.
    if isAbandoned { abandoned.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
    switch fate {
    case .handled: handled.wrappingAdd(1, ordering: .relaxed)
    case .failed: failed.wrappingAdd(1, ordering: .relaxed)
    case .notAddressed: addressed.wrappingSubtract(1, ordering: .relaxed)
    case .passedOver, .expired: missed.wrappingAdd(1, ordering: .relaxed)
    }
    outstanding.fall()
  }

  /// Counts off one subscription that has dropped or discarded the notification.
  ///
  /// Must not be called under a lock.
  func passUnhandled(by subscriber: borrowing WeakReference) {
    let isAddressed = admits.flatMap { subscriber.living.map($0) } ?? true
    pass(as: isAddressed ? .expired : .notAddressed)
  }

  var position: Position? { postedAt.withLock { $0 } }

  /// Whether all have passed it.
  var isPassed: Bool { outstanding.value == 0 }
}

/// The receipts of one protocol that are not passed by all, and some that are, in the order of posting.
struct ReceiptQueue: Sendable {
  typealias Entry = (position: Receipt.Position, receipt: Receipt)

  private var entries: [Entry] = []
  /// How many have been posted.
  private(set) var total = 0
  /// How many calls have returned since those that are passed were removed.
  private var returned = 0

  var count: Int { entries.count }

  mutating func add(_ receipt: Receipt, at position: Receipt.Position) {
    entries.append((position, receipt))
    total += 1
  }

  /// Notes that the call has returned which posted one of them; when that are many, those that are passed are removed.
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

  /// The receipt whose place has a number that grows with each; `nil` if there is none, or it is passed by all.
  ///
  /// - Complexity: O(log *n*) in the number of those that are not.
  func find(_ number: Int, by key: (Receipt.Position) -> Int) -> Receipt? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if key(entries[middle].position) < number { low = middle + 1 } else { high = middle }
    }
    guard low < entries.count, key(entries[low].position) == number else { return nil }
    // Some that are passed are still there, and to wait for one of them would cost as much as a delivery.
    return entries[low].receipt.isPassed ? nil : entries[low].receipt
  }
}
