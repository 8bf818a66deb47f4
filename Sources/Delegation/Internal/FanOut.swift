internal import Synchronization

/// One call on many subscribers: the library's only call loop, for notifications and questions alike.
///
/// *Workers* claim positions from a shared index, one at a time and in order, and run each handler in
/// place. Whenever something is unclaimed there is one worker that has been asked for and not started,
/// the *standby*; one that starts with more than one position left asks for the next before it claims.
/// So a handler that suspends, or blocks its thread, holds up nobody behind it, and tasks are paid for
/// by the suspension rather than by the subscriber. Two exceptions: a question without a deadline
/// starts its first worker in the caller's place and asks for the standby when that comes back
/// suspended; and a question that is asked of one after another has one worker, the caller itself.
@usableFromInline
final class FanOut: Sendable {
  /// Asks the subscriber at a position and reports what came of it.
  @usableFromInline
  typealias Question =
    nonisolated(nonsending) @Sendable (FanOut, SubscriptionNode, Int) async -> Void

  let nodes: [SubscriptionNode]
  /// How many fan-outs this one is nested in, plus one.
  let depth: Int
  /// What to ask; `nil` to hand over the notifications that wait in the mailboxes.
  private let question: Question?
  /// The handler that awaited this fan-out when it began, if any.
  private let origin: HandlerContext?
  /// Kept until the last worker is done: what was posted is delivered though the hub is let go.
  private let hub: DelegateHub
  /// The next position to claim; beyond the last one when all are claimed or the fan-out is stopped.
  private let next = Atomic<Int>(0)
  private let crew = Crew()

  /// What `next` is set to when nothing more may be claimed.
  private static let stopped = Int.max / 2
  /// From this depth on, workers are not started in the caller's place: it would use up the stack.
  private static let deepest = 16

  /// Fans out the notifications that wait.
  init(delivering nodes: [SubscriptionNode], for hub: DelegateHub) {
    self.nodes = nodes
    self.hub = hub
    question = nil
    origin = nil
    depth = 0
  }

  /// Fans out a question that the present code awaits.
  @usableFromInline
  init(asking nodes: [SubscriptionNode], for hub: DelegateHub, _ question: @escaping Question) {
    self.nodes = nodes
    self.hub = hub
    self.question = question
    origin = HandlerContext.current
    depth = HandlerContext.depth + 1
  }

  /// Whether handlers of notifications are run, each while its subscription's mailbox is attended.
  var isDelivery: Bool { question == nil }

  /// The handler that awaits this fan-out; nobody does once it is decided.
  var caller: HandlerContext? {
    next.load(ordering: .relaxed) >= Self.stopped ? nil : origin
  }

  // MARK: Starting and stopping

  /// Starts the first worker in the caller's place, and returns when it is done or has suspended.
  @usableFromInline
  func startInPlace() {
    guard hub.configuration.executor == nil, depth < Self.deepest,
      #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    else { return summonWorker() }
    hub.inbox.activity.begin()
    Task.immediate { await self.work() }
    if unclaimed > 0 { summonWorker() }
  }

  /// Is the only worker, in the caller's task.
  @usableFromInline
  nonisolated(nonsending) func runInTurn() async {
    hub.inbox.activity.begin()
    guard let executor = hub.configuration.executor else { return await work(staying: true) }
    await withTaskExecutorPreference(executor) { await work(staying: true) }
  }

  /// Asks for one more worker.
  @usableFromInline
  func summonWorker() {
    summon(on: hub.configuration.executor) { await self.workAsStandby() }
  }

  /// Begins no further handler, and cancels those that run.
  @usableFromInline
  func stop() {
    next.store(Self.stopped, ordering: .relaxed)
    cancel()
  }

  /// Cancels the handlers that run or will.
  @usableFromInline
  func cancel() {
    crew.cancel()
  }

  /// Raises the priority of the handlers that run.
  @usableFromInline
  func escalate(to priority: TaskPriority) {
    crew.escalate(to: priority)
  }

  private func summon(
    on executor: (any TaskExecutor)?, _ work: @escaping @Sendable () async -> Void
  ) {
    hub.inbox.activity.begin()
    if isDelivery {
      // Detached: the poster's task-locals are not the handlers'.
      Task.detached(executorPreference: executor, operation: work)
    } else {
      Task(executorPreference: executor, operation: work)
    }
  }

  // MARK: Working

  private var unclaimed: Int { nodes.count - next.load(ordering: .relaxed) }

  private func claim() -> Int? {
    // Without this look the index would grow with each worker that finds nothing.
    guard unclaimed > 0 else { return nil }
    let position = next.wrappingAdd(1, ordering: .relaxed).oldValue
    return position < nodes.count ? position : nil
  }

  /// One worker that provides for its successor first.
  ///
  /// It was counted when it was asked for.
  func workAsStandby() async {
    if unclaimed > 1 { summonWorker() }
    await work()
  }

  /// One worker, from its first claim to its last.
  ///
  /// It was counted when it was asked for.
  ///
  /// - Parameter staying: whether even the handlers of subscribers with an executor of their own are
  ///   this worker's to await.
  func work(staying: Bool = false) async {
    if let first = claim() {
      let worker = Worker(in: self)
      if let question {
        await ask(question, from: first, as: worker, staying: staying)
      } else {
        await deliver(from: first, as: worker)
      }
    }
    hub.inbox.workerEnded()
  }

  // MARK: Asking

  private func ask(
    _ question: @escaping Question, from first: Int, as worker: Worker, staying: Bool
  ) async {
    await enlisted(as: worker, cancellable: !staying) {
      var next: Int? = first
      while let position = next {
        let node = nodes[position]
        if let executor = node.executor {
          await ask(question, at: position, as: worker, on: executor, staying: staying)
        } else {
          await run(question, at: position, as: worker)
        }
        next = claim()
      }
    }
  }

  @inline(__always)
  nonisolated(nonsending) private func run(
    _ question: Question, at position: Int, as worker: Worker
  ) async {
    worker.begin(at: position)
    let watch = hub.slowWatch?.begin(nodes[position])
    await question(self, nodes[position], position)
    if let watch { hub.slowWatch?.end(watch) }
    worker.end()
  }

  /// Asks on the subscription's own executor, in a task of its own unless the worker is to stay.
  nonisolated(nonsending) private func ask(
    _ question: @escaping Question, at position: Int, as worker: Worker,
    on executor: any TaskExecutor, staying: Bool
  ) async {
    if staying {
      await withTaskExecutorPreference(executor) {
        await run(question, at: position, as: worker)
      }
    } else {
      summon(on: executor) {
        let worker = Worker(in: self)
        await self.enlisted(as: worker, cancellable: true) {
          await self.run(question, at: position, as: worker)
        }
        self.hub.inbox.workerEnded()
      }
    }
  }

  /// Does a worker's part of a question where it is known to be within a handler.
  ///
  /// - Parameters:
  ///   - worker: the worker.
  ///   - cancellable: whether the task is one of the crew's, rather than the caller's own.
  ///   - body: its part.
  private func enlisted(
    as worker: Worker, cancellable: Bool, _ body: () async -> Void
  ) async {
    let context = HandlerContext(worker: worker, call: nil)
    guard cancellable else {
      return await HandlerContext.$current.withValue(context) { await body() }
    }
    await withUnsafeCurrentTask { task in
      let member = task.map { Crew.Member(task: $0) }
      if let member { crew.join(member) }
      await HandlerContext.$current.withValue(context) { await body() }
      if let member { await crew.leave(member) }
    }
  }

  // MARK: Delivering

  nonisolated(nonsending) private func deliver(from first: Int, as worker: Worker) async {
    var next: Int? = first
    while let position = next {
      let node = nodes[position]
      if let content = node.attend() {
        if let executor = node.executor {
          summon(on: executor) {
            let worker = Worker(in: self)
            await self.attend(node, at: position, beginningWith: content, as: worker)
            self.hub.inbox.workerEnded()
          }
        } else {
          await attend(node, at: position, beginningWith: content, as: worker)
        }
      }
      next = claim()
    }
  }

  /// Runs the handlers that wait in a mailbox that this worker attends.
  nonisolated(nonsending) private func attend(
    _ node: SubscriptionNode, at position: Int, beginningWith first: Notification.Content,
    as worker: Worker
  ) async {
    var step = Mailbox.Step.handle(first)
    while true {
      switch step {
      case .handle(let content):
        let fate = await run(content.handler, on: node, at: position, as: worker)
        step = node.advance(after: fate)
        content.receipt?.pass()
      case .yield:
        await Task.yield()
        step = node.resume()
      case .rest:
        return
      }
    }
  }

  nonisolated(nonsending) private func run(
    _ handler: Notification.Handler, on node: SubscriptionNode, at position: Int, as worker: Worker
  ) async -> Mailbox.Fate {
    guard node.isOpen else { return .skipped }
    let watch = hub.slowWatch?.begin(node)
    defer { if let watch { hub.slowWatch?.end(watch) } }
    do {
      let isAlive: Bool
      switch handler {
      case .synchronous(let handle):
        isAlive = try handle(node)
      case .asynchronous(let handle):
        worker.begin(at: position)
        defer { worker.end() }
        let context = HandlerContext(worker: worker, call: worker.currentCall)
        isAlive = try await HandlerContext.$current.withValue(context) { try await handle(node) }
      }
      return isAlive ? .handled : .skipped
    } catch {
      hub.report(error, in: node)
      return .failed
    }
  }
}
