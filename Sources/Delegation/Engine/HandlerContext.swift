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
    guard let current = HandlerContext.current, current.node != nil else { return outermost }
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
    // Let go outside the lock.
    let former = context.withLock { context in
      defer { context = nil }
      return context
    }
    withExtendedLifetime(former) {}
  }
}

/// One worker's presence in a fan-out: which subscription's handler it is running.
///
/// Handlers' tasks keep it as long as they live, so it does not keep the fan-out, nor the hub.
@usableFromInline
final class Worker: Sendable {
  let inbox: Inbox
  /// Who awaits the fan-out; `nil` if handlers of notifications are run, which nobody awaits.
  let caller: Caller?
  private let nodes: [SubscriptionNode]
  /// The number of the latest call in the upper half; in the lower one the position, plus 1, of the
  /// subscription whose handler is running, or 0.
  ///
  /// One word, so that a position is never taken for another call's. Written by the worker alone.
  @usableFromInline
  let word = Atomic<UInt64>(0)

  init(for nodes: [SubscriptionNode], caller: Caller?, inbox: Inbox) {
    self.nodes = nodes
    self.caller = caller
    self.inbox = inbox
  }

  /// Notes that a handler begins.
  ///
  /// - Parameter position: its subscription's position.
  /// - Returns: the call's number, from 1.
  @inlinable
  func begin(at position: Int) -> UInt64 {
    let call = word.load(ordering: .relaxed) >> 32 &+ 1
    word.store(call << 32 | UInt64(truncatingIfNeeded: position &+ 1), ordering: .releasing)
    return call
  }

  /// Notes that the handler has returned.
  @inlinable
  func end() {
    word.store(word.load(ordering: .relaxed) & ~0xFFFF_FFFF, ordering: .releasing)
  }

  /// The subscription whose handler a call is, or `nil` if that call is over.
  func node(in call: UInt64) -> SubscriptionNode? {
    let word = word.load(ordering: .acquiring)
    let position = Int(word & 0xFFFF_FFFF)
    return word >> 32 == call && position > 0 ? nodes[position - 1] : nil
  }
}

/// The handler that the present code runs in, inherited by the tasks that the handler starts.
///
/// Lets `drain()`, `notifyAndWait` and `cancelAndWait()` not wait for the handler that calls them.
@usableFromInline
struct HandlerContext: Sendable {
  /// Not by the macro, whose binding could not be used in inlined code.
  @usableFromInline
  static let binding = TaskLocal<HandlerContext?>(wrappedValue: nil)

  static var current: HandlerContext? { binding.wrappedValue }

  let worker: Worker
  /// Which of the worker's calls this is.
  let call: UInt64

  @usableFromInline
  init(worker: Worker, call: UInt64) {
    self.worker = worker
    self.call = call
  }

  /// The subscription whose handler this is, or `nil` if that handler has returned.
  var node: SubscriptionNode? { worker.node(in: call) }

  /// The same if the handler is one of a notification, so that what waits in the subscription's mailbox
  /// waits for it.
  var attendedNode: SubscriptionNode? { worker.caller == nil ? node : nil }

  /// The handlers that cannot go on before this one does: itself, the one that awaits its fan-out, and
  /// so on; none if it has returned.
  var chain: [HandlerContext] {
    var chain: [HandlerContext] = []
    var next: HandlerContext? = self
    while let context = next, context.node != nil {
      chain.append(context)
      next = context.worker.caller?.awaiting
    }
    return chain
  }
}
