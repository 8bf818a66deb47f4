internal import Synchronization

/// A handler, or a stream's loop; a task-local has the current task's handler, which tasks that the handler starts
/// inherit.
///
/// By this context, `drain()`, `notifyAndWait` and `cancelAndWait()` do not wait for the handler that calls them. A
/// stream's loop has an event *in hand* until it asks for the next one; that long, the loop's body counts as a handler.
@usableFromInline
struct HandlerContext: Sendable {
  /// Not made by the `@TaskLocal` macro, whose binding could not be used in inlined code.
  @usableFromInline
  static let binding = TaskLocal<HandlerContext?>(wrappedValue: nil)

  /// The innermost handler, or body of a stream's loop, that the current task is in.
  static var current: HandlerContext? {
    guard let loop = loops.last, let bound else { return loops.last ?? bound }
    // The handler is the inner one if the loop's body awaits it; otherwise the loop is in the handler.
    return chain(of: [bound]).contains { $0.worker === loop.worker } ? bound : loop
  }

  /// What the current task holds up: the stream loops whose events it is handling, then its handler if that still runs.
  static var present: [HandlerContext] {
    guard let bound, bound.isRunning else { return loops }
    return loops + [bound]
  }

  /// The handler whose context is bound in the current task; never a stream's loop.
  static var bound: HandlerContext? { binding.wrappedValue?.running }

  let worker: Worker
  /// The number of the worker's call; 0 stands for whichever is running.
  let call: UInt64
  /// The handler's subscription; `nil` if ``isDelay``, and for the worker of a ``Question``, which must not retain it.
  let node: SubscriptionNode?
  /// The identity of the handler's subscription, as bits; 0 if there is none.
  let nodeBits: UInt

  @usableFromInline
  init(worker: Worker, call: UInt64, node: SubscriptionNode?, nodeBits: UInt = 0) {
    (self.worker, self.call, self.node) = (worker, call, node)
    self.nodeBits = node?.identityBits ?? nodeBits
  }

  func isHandler(of node: SubscriptionNode) -> Bool { nodeBits == node.identityBits }

  /// Whether only drains wait for this: a closure that delays a drain, or a turn that is a ``Question`` of its own.
  var isDelay: Bool { nodeBits == 0 }

  var isRunning: Bool { worker.isRunning(call) }

  /// This context; if it names no call (0), with the worker's running call, or `nil` if none is running.
  fileprivate var running: HandlerContext? {
    if call != 0 { return self }
    return worker.running.map { HandlerContext(worker: worker, call: $0, node: node, nodeBits: $1) }
  }

  /// The given handlers, the handlers that await the questions in which the given ones are asked, and so on.
  ///
  /// An awaiting handler cannot go on before the given ones return. Handlers that have returned are left out.
  static func chain(of contexts: [HandlerContext]) -> [HandlerContext] {
    var chain: [HandlerContext] = []
    var next = contexts
    while let context = next.popLast() {
      guard context.isRunning else { continue }
      chain.append(context)
      next += context.worker.caller?.awaiting ?? []
    }
    return chain
  }
}

/// The stream loops that have an event in hand, by their tasks: a loop's body is no closure to bind a context around.
extension HandlerContext {
  private typealias Noted = (loop: HandlerContext, owner: HandlerContext?)

  /// The stream loops that take events, by task; of one task, the latest is last.
  private static let noted = Lock<[UInt64: [Noted]]>([:])
  /// How many tasks have loops in `noted`; while there are none, as in most programs, no lock is taken.
  private static let notedCount = Atomic(0)
  /// How many tasks are in the bodies of several loops.
  private static let severalCount = Atomic(0)

  /// Whether some task is in several loops' bodies: a loop that takes its next event is then noted again, as the
  /// latest.
  static var maySwitchLoops: Bool { severalCount.load(ordering: .relaxed) > 0 }

  /// The current task's stream loops with an event in hand, the latest last; without those of a handler that has
  /// returned.
  private static var loops: [HandlerContext] {
    guard notedCount.load(ordering: .relaxed) > 0, let task = currentTask,
      let all = noted.withLock({ $0[task] })
    else { return [] }
    return all.filter { $0.owner?.isRunning ?? true }.compactMap(\.loop.running)
  }

  /// The handler whose worker has the current task for its own, and runs other handlers in it afterwards.
  ///
  /// For a handler that runs in its caller's task, the caller's handler; in a task that a handler has started, `nil`. A
  /// task that a question's handler has started counts as the worker's, whose number is not known (``Worker/task``).
  static var hostHandler: HandlerContext? {
    let task = currentTask
    var next = bound
    while let context = next, context.worker.task != 0, context.worker.task != task {
      next = context.worker.task == nil ? context.worker.caller?.awaiting.last : nil
    }
    return next
  }

  static var currentTask: UInt64? {
    withUnsafeCurrentTask { $0.map { jobTaskID(unsafeBitCast($0, to: UnownedJob.self)) } }
  }

  /// Notes that a task has an event of a loop in hand, or has none any more: O(*n*) in the task's *n* loops.
  ///
  /// `owner` is the handler whose task this is, if any.
  static func note(
    _ loop: HandlerContext, in task: UInt64, of owner: HandlerContext?, isInHand: Bool
  ) {
    noted.withLock { noted in
      // Taken out, so that the array is changed in place.
      var all = noted.removeValue(forKey: task) ?? []
      let former = all.count
      if isInHand {
        all.append((loop, owner))
      } else if let index = all.firstIndex(where: { $0.loop.worker === loop.worker }) {
        all.remove(at: index)
      }
      let change = (all.count > 1 ? 1 : 0) - (former > 1 ? 1 : 0)
      severalCount.wrappingAdd(change, ordering: .relaxed)
      if !all.isEmpty { noted[task] = all }
      notedCount.store(noted.count, ordering: .relaxed)
    }
  }
}

/// The runtime's number for the task that a job is a part of, or zero.
///
/// No two tasks ever have the same number, while a task's address is used again. A task is itself a job.
@_silgen_name("swift_task_getJobTaskId")
package func jobTaskID(_ job: UnownedJob) -> UInt64

/// What a question knows of its caller: the stream loops in whose bodies it is asked, and the handler that awaits it,
/// if any.
///
/// Cleared when the question is decided or done: these go on, and must not be retained.
@usableFromInline
final class Caller: Sendable {
  private let contexts: Lock<[HandlerContext]>
  let depth: Int

  /// Whether so few calls are nested that the stack is surely large enough.
  ///
  /// At greater depth nothing starts on the caller's thread, and another task cancels the handlers of a cancelled
  /// caller: otherwise each nested question would use the stack of the one before.
  var isShallow: Bool { depth < 16 }

  /// The caller for code outside of any handler.
  private static let outermost = Caller([])

  /// The current task as a caller, with the handlers that cannot go on before it does.
  static var present: Caller {
    let contexts = HandlerContext.present
    return contexts.isEmpty ? outermost : Caller(contexts)
  }

  private init(_ contexts: [HandlerContext]) {
    self.contexts = Lock(contexts)
    depth = (contexts.last?.worker.depth ?? 0) + 1
  }

  var awaiting: [HandlerContext] { self === Self.outermost ? [] : contexts.withLock { $0 } }

  func clear() {
    // All callers outside of handlers share `outermost`: it has nothing to clear, and its lock would be contended.
    if self === Self.outermost { return }
    // The contexts are released outside the lock.
    withExtendedLifetime(contexts.withLock { exchange(&$0, with: []) }) {}
  }
}
