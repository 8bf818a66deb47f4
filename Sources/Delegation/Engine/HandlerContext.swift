public import Synchronization

/// The handler that awaits a fan-out, as long as one does.
///
/// Cleared when the fan-out is decided or done: then that handler goes on, and is kept no longer.
final class Caller: Sendable {
  private let context: Lock<HandlerContext?>
  /// How many fan-outs are nested down to here.
  let depth: Int

  /// That of code outside of any handler.
  private static let outermost = Caller(nil)

  /// The handler that the present code runs in, if it has not returned.
  static var present: Caller {
    guard let current = HandlerContext.current, current.isRunning else { return outermost }
    return Caller(current)
  }

  private init(_ context: HandlerContext?) {
    self.context = Lock(context)
    depth = (context?.worker.caller?.depth ?? 0) + 1
  }

  var awaiting: HandlerContext? { self === Self.outermost ? nil : context.withLock { $0 } }

  func clear() {
    // The one that all share has nothing to clear, and its lock would be in everybody's way.
    if self === Self.outermost { return }
    // Released outside the lock.
    let former = context.withLock { $0.take() }
    former?.worker.noteReturn()
  }
}

/// One worker's presence in a fan-out: which of its calls is running.
///
/// Handlers' tasks keep it as long as they live, so it keeps neither the fan-out, nor its subscriptions,
/// nor the hub.
@usableFromInline
final class Worker: Sendable {
  let activity: Activity
  /// Who awaits the fan-out; `nil` if handlers of notifications are run, which nobody awaits.
  let caller: Caller?
  /// Whether it runs in a task of the fan-out's own, rather than in the caller's.
  @usableFromInline
  let hasOwnTask: Bool
  /// The subscription that the context is of which the worker's task begins with.
  @usableFromInline
  let first: SubscriptionNode?
  /// The number of the latest call, doubled; odd while its handler is running.
  ///
  /// One word, so that a call is never taken for another one. Written by the worker alone.
  @usableFromInline
  let word = Atomic<UInt64>(0)
  /// How many waits of the running handler, and of those that work for it, are not over.
  @usableFromInline
  let waits = Atomic<Int>(0)

  init(
    activity: Activity, caller: Caller?, hasOwnTask: Bool = true, first: SubscriptionNode? = nil
  ) {
    self.activity = activity
    self.caller = caller
    self.hasOwnTask = hasOwnTask
    self.first = first
  }

  /// Notes that a handler begins.
  ///
  /// - Returns: the call's number, from 1.
  @inlinable
  func begin() -> UInt64 {
    let call = word.load(ordering: .relaxed) >> 1 &+ 1
    word.store(call << 1 | 1, ordering: .releasing)
    return call
  }

  /// Notes that the handler has returned.
  ///
  /// To be called before the subscription's or the hub's count of handlers falls: a wait must not
  /// excuse a handler that is no longer counted.
  @inlinable
  func end() {
    word.store(word.load(ordering: .relaxed) & ~1, ordering: .sequentiallyConsistent)
    noteReturn()
  }

  /// Tells waits that are not over that the handler, or the one that awaits it, has gone on.
  @inlinable
  func noteReturn() {
    if waits.load(ordering: .sequentiallyConsistent) > 0 { countReturn() }
  }

  @usableFromInline
  func countReturn() {
    activity.returns.wrappingAdd(1, ordering: .sequentiallyConsistent)
  }

  /// Whether a call's handler is running.
  func isRunning(_ call: UInt64) -> Bool {
    word.load(ordering: .sequentiallyConsistent) == call << 1 | 1
  }
}

/// The handler that the present code runs in, inherited by the tasks that the handler starts.
///
/// By it `drain()`, `notifyAndWait` and `cancelAndWait()` do not wait for the handler that calls them.
@usableFromInline
struct HandlerContext: Sendable {
  /// Not by the macro, whose binding could not be used in inlined code.
  @usableFromInline
  static let binding = TaskLocal<HandlerContext?>(wrappedValue: nil)

  static var current: HandlerContext? { binding.wrappedValue }

  let worker: Worker
  /// Which of the worker's calls this is.
  let call: UInt64
  /// The subscription whose handler this is; `nil` for what delays a drain, which is no handler.
  let node: SubscriptionNode?

  @usableFromInline
  init(worker: Worker, call: UInt64, node: SubscriptionNode?) {
    self.worker = worker
    self.call = call
    self.node = node
  }

  /// Whether the handler has not returned.
  var isRunning: Bool { worker.isRunning(call) }

  /// Whether the handler is one of a notification, so that what waits in the subscription's mailbox
  /// waits for it.
  var isAttending: Bool { worker.caller == nil }

  /// The handlers that cannot go on before this one does: itself, the one that awaits its fan-out, and
  /// so on; none if it has returned.
  var chain: [HandlerContext] {
    var chain: [HandlerContext] = []
    var next: HandlerContext? = self
    while let context = next, context.isRunning {
      chain.append(context)
      next = context.worker.caller?.awaiting
    }
    return chain
  }
}
