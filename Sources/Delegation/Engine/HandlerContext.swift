internal import Synchronization

/// The handler that the current task runs in; the tasks that the handler starts inherit it.
///
/// With it, `drain()`, `notifyAndWait` and `cancelAndWait()` do not wait for the handler that calls them.
@usableFromInline
struct HandlerContext: Sendable {
  /// Not made by the `@TaskLocal` macro, whose binding could not be used in inlined code.
  @usableFromInline
  static let binding = TaskLocal<HandlerContext?>(wrappedValue: nil)

  /// The handler that the current task runs in, or the loop over a stream whose body it is in.
  static var current: HandlerContext? {
    guard let loop = loops.last, let bound else { return loops.last ?? bound }
    // A handler that the loop's body calls is within the loop, and the loop may be within a handler.
    return chain(of: [bound]).contains { $0.worker === loop.worker } ? bound : loop
  }

  /// The loops of which the current task has an event in hand, and then the handler that it runs in, if that has not
  /// returned: none of them goes on before the task does.
  static var present: [HandlerContext] {
    guard let bound, bound.isRunning else { return loops }
    return loops + [bound]
  }

  /// The handler that the current task runs in.
  static var bound: HandlerContext? { binding.wrappedValue?.running }

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

  /// Whether it is a closure that delays a drain.
  var isDelay: Bool { nodeBits == 0 }

  /// Whether the handler has not returned.
  var isRunning: Bool { worker.isRunning(call) }

  /// Itself with its number, if it is the one that is running.
  fileprivate var running: HandlerContext? {
    if call != 0 { return self }
    return worker.running.map {
      HandlerContext(worker: worker, call: $0, node: node, nodeBits: node == nil ? $1 : nodeBits)
    }
  }

  /// The handlers that cannot go on before some return: these, those that await their questions, and so on, without
  /// those that have returned.
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

/// The loops of streams that have an event in hand, by their tasks: what they call is not within a handler's closure.
extension HandlerContext {
  private typealias Noted = (loop: HandlerContext, owner: HandlerContext?)

  /// The latest last.
  private static let noted = Lock<[UInt64: [Noted]]>([:])
  /// How many tasks have any: most programs wait for no lock.
  private static let notedCount = Atomic(0)
  /// How many of them have several.
  private static let severalCount = Atomic(0)

  /// Whether the latest loop of a task may not be the one that goes on.
  static var maySwitchLoops: Bool { severalCount.load(ordering: .relaxed) > 0 }

  /// Those of the current task, the latest last; not if the handler whose task it was has returned since.
  private static var loops: [HandlerContext] {
    guard notedCount.load(ordering: .relaxed) > 0, let task = currentTask,
      let all = noted.withLock({ $0[task] })
    else { return [] }
    return all.filter { $0.owner?.isRunning ?? true }.compactMap(\.loop.running)
  }

  /// The handler after which the current task, a worker's, runs others.
  ///
  /// It is not one that this task has inherited from another, nor one that runs in its caller's task. A question's handler
  /// passes for that of the tasks that it starts, too.
  static var owner: HandlerContext? {
    let task = currentTask
    var next = bound
    while let context = next, context.worker.task != 0, context.worker.task != task {
      next = context.worker.task == nil ? context.worker.caller?.awaiting.last : nil
    }
    return next
  }

  /// The number of the current task.
  static var currentTask: UInt64? {
    withUnsafeCurrentTask { $0.map { jobTaskID(unsafeBitCast($0, to: UnownedJob.self)) } }
  }

  /// Notes that a task has an event of a loop in hand, or has none any more: O(n) in the *n* that it has then.
  ///
  /// - Parameters:
  ///   - loop: the loop, with the call that is running.
  ///   - task: the task.
  ///   - owner: the handler whose task it is.
  ///   - isInHand: whether it has.
  static func note(
    _ loop: HandlerContext, in task: UInt64, of owner: HandlerContext?, isInHand: Bool
  ) {
    noted.withLock { noted in
      // Changed in place: no array is made for it.
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

/// The runtime's number for the task that a job is a part of, or zero; descriptions of jobs show it.
///
/// No other task ever has it: an address is another one's once the task has ended. A task is a job itself.
@_silgen_name("swift_task_getJobTaskId")
package func jobTaskID(_ job: UnownedJob) -> UInt64

extension HandlerContext {
  @usableFromInline
  init(worker: Worker, call: UInt64, node: SubscriptionNode?) {
    self.init(worker: worker, call: call, node: node, nodeBits: node?.identityBits ?? 0)
  }
}

/// The caller of a question, as its question knows it: the handler that awaits it, if one does, and the loops in whose
/// bodies it is asked.
///
/// It is cleared when the question is decided or done: then that handler goes on, and is not kept any more.
@usableFromInline
final class Caller: Sendable {
  private let contexts: Lock<[HandlerContext]>
  /// The number of nested calls.
  let depth: Int

  /// Whether it is nested in so few others that the stack is sure to be large enough.
  ///
  /// At greater depth nothing is started in the caller's place, nor cancelled in the place of who cancels the caller:
  /// each nested question would do so within the one before, and use up the stack.
  var isShallow: Bool { depth < 16 }

  /// The caller for code outside of any handler.
  private static let outermost = Caller([])

  /// A caller for the handler that the current task runs in, if that has not returned, and for its loops.
  static var present: Caller {
    let contexts = HandlerContext.present
    return contexts.isEmpty ? outermost : Caller(contexts)
  }

  private init(_ contexts: [HandlerContext]) {
    self.contexts = Lock(contexts)
    depth = (contexts.last?.worker.depth ?? 0) + 1
  }

  var awaiting: [HandlerContext] {
    self === Self.outermost ? [] : contexts.withLock { $0 }
  }

  func clear() {
    // The shared one has nothing to clear, and its lock would be contended.
    if self === Self.outermost { return }
    // Released outside the lock.
    let former = contexts.withLock { contexts in
      defer { contexts = [] }
      return contexts
    }
    withExtendedLifetime(former) {}
  }
}
