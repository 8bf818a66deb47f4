internal import Synchronization

/// A count, and the tasks that wait for it to fall.
///
/// A waiter *excuses* the handlers that cannot end before the waiter's task goes on: it is resumed when no other
/// handlers are counted. A fall to a count above `limit` costs two atomic operations, however many tasks wait.
///
/// Invariant: `limit` is `waiters.limit`, and is written under the lock of `waiters`. A waiter sets the limit before it
/// reads the count; a fall lowers the count before it reads the limit. So the waiter or the fall sees the other.
struct AwaitedCount: ~Copyable, Sendable {
  private let count = Atomic(0)
  let limit = Atomic<Int>(-1)
  private let waiters = Lock(WaitList())

  var value: Int { count.load(ordering: .sequentiallyConsistent) }

  func rise(by amount: Int = 1) { count.wrappingAdd(amount, ordering: .sequentiallyConsistent) }

  /// Lowers the count by one, and resumes the waiters whose wait is over.
  ///
  /// Must not be called under a lock.
  func fall() {
    let now = count.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue
    if now <= limit.load(ordering: .sequentiallyConsistent) { update() }
  }

  /// Changes the list of waiters, and resumes those that need not wait any longer.
  ///
  /// Must not be called under a lock.
  func update(_ change: WaitList.Change? = nil) {
    let fulfilled = waiters.withLock { waiters in
      waiters.apply(change)
      limit.store(waiters.limit, ordering: .sequentiallyConsistent)
      let fulfilled = waiters.takeFulfilled { value }
      // `takeFulfilled` may have lowered `waiters.limit`.
      limit.store(waiters.limit, ordering: .sequentiallyConsistent)
      return fulfilled
    }
    for (waiter, _) in fulfilled { waiter.resume(true) }
  }
}

/// The tasks that wait for one count to fall.
///
/// A waiter's *limit* is the highest count at which it may be resumed. Invariant: the limit is no lower than the number
/// of handlers that the waiter excuses.
struct WaitList: Sendable {
  enum Change {
    case add(Waiter)
    case remove(Waiter)
    case recount
  }

  typealias Entry = (waiter: Waiter, limit: Int)

  private var waiters: [Entry] = []

  /// The waiters' highest limit, or more; -1 if nobody waits.
  private(set) var limit = -1

  var isEmpty: Bool { waiters.isEmpty }

  mutating func apply(_ change: Change?) {
    switch change {
    case .add(let waiter):
      let excused = waiter.countExcused?() ?? 0
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

  /// Counts the waiters' excused handlers again, once for each kind of waiter.
  private mutating func recount() {
    var counts: [Int: Int] = [:]
    limit = -1
    for index in waiters.indices {
      let waiter = waiters[index].waiter
      let count = counts[waiter.kind] ?? waiter.countExcused?() ?? 0
      if waiters.count > 1 { counts[waiter.kind] = count }
      waiters[index].limit = count
      limit = max(limit, count)
    }
  }

  /// Takes out the waiters that need not wait any longer.
  ///
  /// The count is read before and after the excused handlers are counted; the higher reading is taken. Between the
  /// readings an excused handler may end, which only the first one includes, or a handler may begin and wait, which
  /// only the second one includes. So a wait may be too long, never too short: that handler's end or wait has the
  /// waiters checked again.
  ///
  /// - Complexity: O(1) if the count is above `limit`, else O(*n*) in the number of waiters.
  mutating func takeFulfilled(at value: () -> Int) -> [Entry] {
    let before = value()
    guard before <= limit else { return [] }
    recount()
    let count = max(before, value())
    let first = waiters.partition { count <= $0.limit }
    if first == 0 { return exchange(&self, with: WaitList()).waiters }
    let fulfilled = Array(waiters[first...])
    waiters.removeSubrange(first...)
    limit = waiters.reduce(-1) { max($0, $1.limit) }
    return fulfilled
  }
}

/// One task that waits: for a count to fall, a question's decision, a stream's event, or a change of demand.
///
/// Invariant: the task is resumed once, with the first outcome. An outcome that comes before the task waits is kept.
final class Waiter: Sendable {
  /// An unsafe continuation, because the layout of a checked one is looked up at each access.
  private let state = Lock(
    (outcome: Bool?.none, continuation: UnsafeContinuation<Bool, Never>?.none))
  /// Counts the handlers or subscriptions that the wait leaves out now; `nil` if it never leaves out any.
  let countExcused: (@Sendable () -> Int)?

  /// Waiters of one count and one kind leave out the same handlers.
  let kind: Int

  init(kind: Int = 0, excusing countExcused: (@Sendable () -> Int)? = nil) {
    (self.kind, self.countExcused) = (kind, countExcused)
  }

  /// Whether the goal of the wait was reached; `nil` before ``resume(_:)`` is called.
  var outcome: Bool? { state.withLock { $0.outcome } }

  /// Resumes the task, unless it was resumed before.
  ///
  /// - Parameter isReached: the outcome.
  func resume(_ isReached: Bool) {
    let continuation = state.withLock { state in
      if state.outcome == nil { state.outcome = isReached }
      return state.continuation.take()
    }
    continuation?.resume(returning: isReached)
  }

  /// Waits until ``resume(_:)`` is called.
  ///
  /// Only one task may call it.
  ///
  /// - Returns: the outcome.
  nonisolated(nonsending) func wait() async -> Bool {
    await withUnsafeContinuation { continuation in
      let outcome = state.withLock { state in
        if state.outcome == nil { state.continuation = continuation }
        return state.outcome
      }
      if let outcome { continuation.resume(returning: outcome) }
    }
  }

  /// Waits as ``wait()`` does, at most until a deadline or, if `isCancellable`, the task's cancellation.
  @inline(__always)
  nonisolated(nonsending) func wait(
    until deadline: Deadline?, isCancellable: Bool = true
  ) async -> Bool {
    // Most waiters have an outcome already, and set no alarm.
    let cancelAlarm = deadline.flatMap { outcome == nil ? $0.schedule { self.resume(false) } : nil }
    defer { cancelAlarm?() }
    return await withTaskCancellationHandler {
      await wait()
    } onCancel: {
      if isCancellable { resume(false) }
    }
  }
}
