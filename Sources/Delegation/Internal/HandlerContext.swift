internal import Synchronization

/// The handler that awaits a fan-out, as long as one does.
///
/// Cleared when the fan-out is decided or done: then that handler goes on, and is kept no longer.
final class Origin: Sendable {
  private let context: Lock<HandlerContext?>
  /// How many fan-outs are nested down to here.
  let depth: Int

  /// Begins with the handler that the present code runs in, if it has not returned.
  init() {
    let current = HandlerContext.current.flatMap { $0.node == nil ? nil : $0 }
    context = Lock(current)
    depth = (current?.worker.origin?.depth ?? 0) + 1
  }

  var awaiting: HandlerContext? { context.withLock { $0 } }

  func clear() {
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
final class Worker: Sendable {
  let inbox: Inbox
  /// Who awaits the fan-out; `nil` if handlers of notifications are run, which nobody awaits.
  let origin: Origin?
  private let nodes: [SubscriptionNode]
  /// The position of the subscription whose handler is running, or -1.
  private let position = Atomic<Int>(-1)
  /// How many handlers this worker has begun.
  private let calls = Atomic<Int>(0)

  init(for nodes: [SubscriptionNode], origin: Origin?, inbox: Inbox) {
    self.nodes = nodes
    self.origin = origin
    self.inbox = inbox
  }

  /// Notes that a handler begins.
  ///
  /// - Parameter position: its subscription's position.
  /// - Returns: the call's number, from 1.
  func begin(at position: Int) -> Int {
    let call = calls.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
    self.position.store(position, ordering: .sequentiallyConsistent)
    return call
  }

  /// Notes that the handler has returned.
  func end() {
    position.store(-1, ordering: .sequentiallyConsistent)
  }

  /// The subscription whose handler a call is, or `nil` if that call is over.
  func node(in call: Int) -> SubscriptionNode? {
    // The position is that of this call only if no other call began before or after it was read.
    guard calls.load(ordering: .sequentiallyConsistent) == call else { return nil }
    let position = position.load(ordering: .sequentiallyConsistent)
    guard position >= 0, calls.load(ordering: .sequentiallyConsistent) == call else { return nil }
    return nodes[position]
  }
}

/// The handler that the present code runs in, inherited by the tasks that the handler starts.
///
/// Lets `drain()`, `deliver` and `cancelAndWait()` not wait for the handler that calls them.
struct HandlerContext: Sendable {
  @TaskLocal static var current: HandlerContext?

  let worker: Worker
  /// Which of the worker's calls this is.
  let call: Int

  /// The subscription whose handler this is, or `nil` if that handler has returned.
  var node: SubscriptionNode? { worker.node(in: call) }

  /// The same if the handler is one of a notification, so that what waits in the subscription's mailbox
  /// waits for it.
  var attendedNode: SubscriptionNode? { worker.origin == nil ? node : nil }

  /// The handlers that cannot go on before this one does: itself, the one that awaits its fan-out, and
  /// so on; none if it has returned.
  var chain: [HandlerContext] {
    var chain: [HandlerContext] = []
    var next: HandlerContext? = self
    while let context = next, context.node != nil {
      chain.append(context)
      next = context.worker.origin?.awaiting
    }
    return chain
  }
}
