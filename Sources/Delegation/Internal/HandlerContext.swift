internal import Synchronization

/// One worker's presence in a fan-out: which subscription's handler it is running.
final class Worker: Sendable {
  let fanOut: FanOut
  /// The position of the subscription whose handler is running, or -1.
  private let position = Atomic<Int>(-1)
  /// How many handlers this worker has begun.
  private let calls = Atomic<Int>(0)

  init(in fanOut: FanOut) {
    self.fanOut = fanOut
  }

  func begin(at position: Int) {
    calls.wrappingAdd(1, ordering: .relaxed)
    self.position.store(position, ordering: .releasing)
  }

  func end() {
    position.store(-1, ordering: .releasing)
  }

  var currentCall: Int { calls.load(ordering: .relaxed) }

  var currentNode: SubscriptionNode? {
    let position = position.load(ordering: .acquiring)
    return position < 0 ? nil : fanOut.nodes[position]
  }
}

/// The handler that the present code runs in, inherited by the tasks that the handler starts.
///
/// Lets `drain()` and `cancelAndWait()` not wait for the handler that calls them.
struct HandlerContext: Sendable {
  @TaskLocal static var current: HandlerContext?

  let worker: Worker
  /// The worker's call that this is, or `nil` for whichever call the worker is in.
  ///
  /// Binding a task-local costs more than asking a voter does, so workers of votes bind it once. A
  /// task left behind by one voter thus takes the worker's present voter for its own; it ends with
  /// the vote.
  let call: Int?

  /// The subscription whose handler this is, or `nil` if that handler has returned.
  var node: SubscriptionNode? {
    if let call, call != worker.currentCall { return nil }
    return worker.currentNode
  }

  /// The same if the handler is one of a notification, so that what waits in the subscription's mailbox
  /// waits for it.
  var attendedNode: SubscriptionNode? { worker.fanOut.isDelivery ? node : nil }

  /// The handlers that cannot go on before the present code does: the one it runs in, the one that
  /// awaits that one's fan-out, and so on.
  static var chain: [HandlerContext] {
    var chain: [HandlerContext] = []
    var next = current
    while let context = next, context.node != nil {
      chain.append(context)
      next = context.worker.fanOut.caller
    }
    return chain
  }

  /// How many fan-outs are nested here.
  static var depth: Int { current.map { $0.worker.fanOut.depth } ?? 0 }
}
