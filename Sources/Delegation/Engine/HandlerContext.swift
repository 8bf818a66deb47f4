internal import Synchronization

/// The handler that the current task runs in; the tasks that the handler starts inherit it.
///
/// With it, `drain()`, `notifyAndWait` and `cancelAndWait()` do not wait for the handler that calls them.
@usableFromInline
struct HandlerContext: Sendable {
  /// Not made by the `@TaskLocal` macro, whose binding could not be used in inlined code.
  @usableFromInline
  static let binding = TaskLocal<HandlerContext?>(wrappedValue: nil)

  /// The handler that the current task runs in.
  ///
  /// Of a question's worker it is the one that is running now.
  static var current: HandlerContext? {
    let bound = binding.wrappedValue.flatMap { bound in
      if bound.call != 0 { return bound }
      return bound.worker.running.map { call, node in
        HandlerContext(worker: bound.worker, call: call, node: nil, nodeBits: node)
      }
    }
    guard let loop else { return bound }
    // A handler that the loop's body calls is within the loop, and the loop may be within a handler.
    return bound?.chain.contains { $0.worker === loop.worker } == true ? bound : loop
  }

  /// Whether the handler of a notification that has waited since it began may go on: not if its subscription has
  /// ended.
  static var mayGoOn: Bool { current?.node?.mayHandle ?? true }

  let worker: Worker
  /// The number of the worker's call; 0 for the one that is running.
  let call: UInt64
  /// The subscription whose notification this handles; `nil` for a question, which is not to keep it, and for a
  /// closure that delays a drain.
  let node: SubscriptionNode?
  /// The identity of the subscription whose handler this is, as bits; 0 if there is none.
  let nodeBits: UInt

  /// Whether it is a handler of a subscription.
  func isHandler(of node: SubscriptionNode) -> Bool {
    nodeBits == node.identityBits
  }

  /// Whether the handler has not returned.
  var isRunning: Bool { worker.isRunning(call) }

  /// The handlers that cannot go on before this one returns: itself, the one that awaits its question, and
  /// so on; empty if it has returned.
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

/// The loops of streams that have an event in hand, by their tasks: what they call is not within a handler's closure.
extension HandlerContext {
  private static let loops = Lock<[Int: HandlerContext]>([:])
  /// How many there are: most programs wait for no lock.
  private static let loopCount = Atomic(0)

  /// That of the current task.
  private static var loop: HandlerContext? {
    guard loopCount.load(ordering: .relaxed) > 0,
      let task = withUnsafeCurrentTask(body: { $0?.hashValue }),
      let noted = loops.withLock({ $0[task] }), let (call, _) = noted.worker.running
    else { return nil }
    return HandlerContext(worker: noted.worker, call: call, node: noted.node)
  }

  /// - Returns: the one that the task had before, as the loop around.
  @discardableResult
  static func noteLoop(_ context: HandlerContext?, in task: Int) -> HandlerContext? {
    loops.withLock { loops in
      defer {
        loops[task] = context
        loopCount.store(loops.count, ordering: .relaxed)
      }
      return loops[task]
    }
  }
}

extension HandlerContext {
  @usableFromInline
  init(worker: Worker, call: UInt64, node: SubscriptionNode?) {
    self.init(worker: worker, call: call, node: node, nodeBits: node?.identityBits ?? 0)
  }
}

/// The caller of a question, as its question knows it: the handler that awaits it, if one does.
///
/// It is cleared when the question is decided or done: then that handler goes on, and is not kept any more.
final class Caller: Sendable {
  private let context: Lock<HandlerContext?>
  /// The number of nested questions.
  let depth: Int

  /// Whether it is nested in so few others that the stack is sure to be large enough.
  ///
  /// At greater depth nothing is started in the caller's place, nor cancelled in the place of who cancels the caller:
  /// each nested question would do so within the one before, and use up the stack.
  var isShallow: Bool { depth < 16 }

  /// The caller for code outside of any handler.
  private static let outermost = Caller(nil)

  /// A caller for the handler that the current task runs in, if that has not returned.
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
    // The shared one has nothing to clear, and its lock would be contended.
    if self === Self.outermost { return }
    // Released outside the lock.
    let former = context.withLock { $0.take() }
    withExtendedLifetime(former) {}
  }
}
