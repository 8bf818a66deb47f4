internal import Synchronization

/// A count, and the tasks that wait for it to fall.
///
/// A fall that resumes nobody costs two atomic operations, however many tasks wait.
///
/// Invariant: `limit` is that of `waiters`, and is written under their lock. A waiter sets the limit
/// before the count is read for it, and a fall lowers the count before it reads the limit: one of the two
/// sees the other.
struct AwaitedCount: ~Copyable, Sendable {
  private let count: Atomic<Int>
  private let limit = Atomic<Int>(-1)
  private let waiters = Lock(WaitList())

  init(_ count: Int = 0) {
    self.count = Atomic(count)
  }

  var value: Int { count.load(ordering: .sequentiallyConsistent) }

  func rise(by amount: Int = 1) {
    count.wrappingAdd(amount, ordering: .sequentiallyConsistent)
  }

  /// Lowers the count by one, and resumes the waiters that waited for that.
  ///
  /// Must not be called under a lock.
  ///
  /// - Returns: the count.
  @discardableResult
  func fall() -> Int {
    let now = count.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue
    if now <= limit.load(ordering: .sequentiallyConsistent) { update() }
    return now
  }

  /// Changes the list of its waiters, and resumes those that need not wait.
  ///
  /// Must not be called under a lock.
  func update(_ change: WaitList.Change? = nil) {
    let fulfilled = waiters.withLock { waiters in
      waiters.apply(change)
      limit.store(waiters.limit, ordering: .sequentiallyConsistent)
      let fulfilled = waiters.takeFulfilled { value }
      limit.store(waiters.limit, ordering: .sequentiallyConsistent)
      return fulfilled
    }
    for (waiter, _) in fulfilled { waiter.resume(true) }
  }

  /// Whether a task waits.
  var isAwaited: Bool { limit.load(ordering: .sequentiallyConsistent) >= 0 }
}

/// The waiters for one count to fall.
///
/// Invariant: the limit of a waiter is no lower than the number of handlers that it excuses.
struct WaitList: Sendable {
  /// What is changed in it.
  enum Change {
    case add(Waiter)
    /// Removes a waiter, if it is there.
    case remove(Waiter)
    /// Counts again who is excused.
    case recount
  }

  typealias Entry = (waiter: Waiter, limit: Int)

  private var waiters: [Entry] = []

  /// The highest count at which one of them may be resumed, or a higher one if that one was removed; -1 if there is none.
  private(set) var limit = -1

  var isEmpty: Bool { waiters.isEmpty }

  mutating func apply(_ change: Change?) {
    switch change {
    case .add(let waiter):
      let excused = waiter.countExcused()
      waiters.append((waiter, excused))
      limit = max(limit, excused)
    case .remove(let waiter):
      guard let index = waiters.lastIndex(where: { $0.waiter === waiter }) else { return }
      waiters.swapAt(index, waiters.count - 1)
      waiters.removeLast()
      if isEmpty { limit = -1 }
    case .recount: recount()
    case nil: break
    }
  }

  /// Counts again who is excused, once for all of a kind.
  private mutating func recount() {
    var counts: [Int: Int] = [:]
    for index in waiters.indices {
      let waiter = waiters[index].waiter
      let count = waiter.kind.flatMap { counts[$0] } ?? waiter.countExcused()
      if waiters.count > 1, let kind = waiter.kind { counts[kind] = count }
      waiters[index].limit = count
    }
    setLimit()
  }

  private mutating func setLimit() { limit = waiters.reduce(-1) { max($0, $1.limit) } }

  /// Takes out the waiters that need not wait at a count.
  ///
  /// The count is read before the excused handlers are counted, and after. A handler that ends in between is in the
  /// first one and no longer excused, one that begins and waits in between is excused and in the second one: to take the
  /// higher one errs towards waiting. The end of the one, and the wait of the other, check again.
  ///
  /// - Complexity: O(1) if the count is above the limit, else O(*n*) in the number of waiters.
  mutating func takeFulfilled(at value: () -> Int) -> [Entry] {
    let before = value()
    guard before <= limit else { return [] }
    recount()
    let count = max(before, value())
    let first = waiters.partition { count <= $0.limit }
    if first == 0 {
      defer { self = WaitList() }
      return waiters
    }
    let fulfilled = Array(waiters[first...])
    waiters.removeSubrange(first...)
    setLimit()
    return fulfilled
  }
}

/// One task that waits for a count of handlers to fall.
///
/// It is resumed when the count is no higher than the number of handlers that it *excuses*: those that
/// cannot end before it is resumed. Outside of handlers it excuses none.
///
/// Invariant: it is resumed once, with the first outcome. An outcome that comes before the task waits is
/// kept.
final class Waiter: Sendable {
  private struct State: Sendable {
    var outcome: Bool?
    /// Not a checked one, whose layout is looked up at each access; it is taken out to be resumed.
    var continuation: UnsafeContinuation<Bool, Never>?
  }

  private let state = Lock(State())
  /// Counts the handlers that are excused now.
  let countExcused: @Sendable () -> Int

  /// All that wait for one count and are of one kind excuse the same.
  let kind: Int?

  init(kind: Int? = nil, excusing countExcused: @escaping @Sendable () -> Int = { 0 }) {
    self.kind = kind
    self.countExcused = countExcused
  }

  /// The outcome that it was resumed with; `nil` as long as it waits.
  var outcome: Bool? { state.withLock { $0.outcome } }

  /// Resumes the task, unless that has been done.
  ///
  /// - Parameter isReached: the outcome: whether the goal of the wait was reached.
  func resume(_ isReached: Bool) {
    let continuation = state.withLock { state in
      if state.outcome == nil { state.outcome = isReached }
      return state.continuation.take()
    }
    continuation?.resume(returning: isReached)
  }

  /// Waits until ``resume(_:)`` is called.
  ///
  /// For one task.
  ///
  /// - Returns: whether the goal of the wait was reached.
  nonisolated(nonsending) func wait() async -> Bool {
    await withUnsafeContinuation { continuation in
      let outcome = state.withLock { state in
        if state.outcome == nil { state.continuation = continuation }
        return state.outcome
      }
      if let outcome { continuation.resume(returning: outcome) }
    }
  }
}
