internal import Synchronization

/// One call on many subscribers: the library's only call loop, for notifications and questions alike.
///
/// *Workers* claim positions from a shared index, one at a time and in order, and run each handler in
/// place. Whenever something is unclaimed there is one worker that has been asked for and not started,
/// the *standby*; one that starts with more than one position left asks for the next before it claims.
/// So a handler that suspends, or blocks its thread, holds up nobody behind it, and tasks are paid for
/// by the suspension rather than by the subscriber. Two exceptions: a question without a deadline
/// starts its first worker in the caller's place and asks for the standby when that comes back
/// suspended, so that a handler which blocks its thread there does hold up those behind it; and a
/// question that is asked of one after another has one worker, the caller itself.
@usableFromInline
final class FanOut: Sendable {
  /// Asks the subscriber at a position and reports what came of it.
  @usableFromInline
  typealias Question =
    nonisolated(nonsending) @Sendable (FanOut, SubscriptionNode, Int) async -> Void

  let nodes: [SubscriptionNode]
  /// What to ask; `nil` to hand over the notifications that wait in the mailboxes.
  private let question: Question?
  /// Who awaits this fan-out; `nil` if notifications are handed over, which nobody awaits.
  private let origin: Origin?
  /// Kept until the last worker is done: what was posted is delivered though the hub is let go.
  private let hub: DelegateHub
  /// The next position to claim; beyond the last one when all are claimed or the fan-out is halted.
  private let next = Atomic<Int>(0)
  private let crew = Crew()

  /// What `next` is set to when nothing more may begin.
  private static let halted = Int.max / 2
  /// From this depth on, workers are not started in the caller's place: it would use up the stack.
  private static let deepest = 16

  /// Fans out the notifications that wait.
  init(delivering nodes: [SubscriptionNode], for hub: DelegateHub) {
    self.nodes = nodes
    self.hub = hub
    question = nil
    origin = nil
  }

  /// Fans out a question that the present code awaits.
  @usableFromInline
  init(asking nodes: [SubscriptionNode], for hub: DelegateHub, _ question: @escaping Question) {
    self.nodes = nodes
    self.hub = hub
    self.question = question
    origin = Origin()
  }

  // MARK: Starting and stopping

  /// Starts the first worker in the caller's place, and returns when it is done or has suspended.
  @usableFromInline
  func startInPlace() {
    guard hub.configuration.executor == nil, origin?.depth ?? 0 < Self.deepest,
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
    if let executor = hub.configuration.executor {
      await withTaskExecutorPreference(executor) { await work(staying: true) }
    } else {
      await work(staying: true)
    }
    halt()
  }

  /// Asks for one more worker.
  @usableFromInline
  func summonWorker() {
    summon(on: hub.configuration.executor) { await self.workAsStandby() }
  }

  /// Lets no further handler begin; whoever awaited the fan-out does so no longer.
  @usableFromInline
  func halt() {
    next.store(Self.halted, ordering: .sequentiallyConsistent)
    origin?.clear()
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
    if question == nil {
      // Detached: the poster's task-locals are not the handlers'.
      Task.detached(executorPreference: executor, operation: work)
    } else {
      Task(executorPreference: executor, operation: work)
    }
  }

  // MARK: Working

  private var unclaimed: Int { nodes.count - next.load(ordering: .relaxed) }

  private var isHalted: Bool { next.load(ordering: .sequentiallyConsistent) >= Self.halted }

  private func claim() -> Int? {
    // Without this look the index would grow with each worker that finds nothing.
    guard unclaimed > 0 else { return nil }
    let position = next.wrappingAdd(1, ordering: .relaxed).oldValue
    return position < nodes.count ? position : nil
  }

  private func makeWorker() -> Worker {
    Worker(for: nodes, origin: origin, inbox: hub.inbox)
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
      if let question {
        await ask(question, from: first, staying: staying)
      } else {
        await deliver(from: first)
      }
    }
    hub.inbox.workerEnded()
  }

  // MARK: Asking

  private func ask(_ question: @escaping Question, from first: Int, staying: Bool) async {
    await enlisted(cancellable: !staying) { worker in
      var next: Int? = first
      while let position = next {
        if let executor = nodes[position].executor {
          await ask(question, at: position, as: worker, on: executor, staying: staying)
        } else {
          await run(question, at: position, as: worker)
        }
        next = claim()
      }
    }
  }

  nonisolated(nonsending) private func run(
    _ question: Question, at position: Int, as worker: Worker
  ) async {
    let watch = hub.slowWatch?.begin(nodes[position])
    let call = worker.begin(at: position)
    if call == 1 {
      await question(self, nodes[position], position)
    } else {
      // A task that an earlier handler left behind must not pass for a part of this one.
      let context = HandlerContext(worker: worker, call: call)
      await HandlerContext.$current.withValue(context) {
        await question(self, nodes[position], position)
      }
    }
    worker.end()
    if let watch { hub.slowWatch?.end(watch) }
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
        // The executor may have taken its time.
        if !self.isHalted {
          await self.enlisted(cancellable: true) { worker in
            await self.run(question, at: position, as: worker)
          }
        }
        self.hub.inbox.workerEnded()
      }
    }
  }

  /// Does a worker's part of a question, within the context of the worker's first call.
  ///
  /// - Parameters:
  ///   - cancellable: whether the task is one of the crew's, rather than the caller's own.
  ///   - body: its part.
  private func enlisted(cancellable: Bool, _ body: (Worker) async -> Void) async {
    let worker = makeWorker()
    let context = HandlerContext(worker: worker, call: 1)
    guard cancellable else {
      return await HandlerContext.$current.withValue(context) { await body(worker) }
    }
    await withUnsafeCurrentTask { task in
      let place = task.map { crew.join(Crew.Member(task: $0)) }
      await HandlerContext.$current.withValue(context) { await body(worker) }
      if let place { await crew.leave(place) }
    }
  }

  // MARK: Delivering

  private func deliver(from first: Int) async {
    let worker = makeWorker()
    var next: Int? = first
    while let position = next {
      let node = nodes[position]
      if node.attend() {
        if let executor = node.executor {
          summon(on: executor) {
            await self.serve(node, at: position, as: self.makeWorker())
            self.hub.inbox.workerEnded()
          }
        } else {
          await serve(node, at: position, as: worker)
        }
      }
      next = claim()
    }
  }

  /// Runs the handlers that wait in a mailbox that this worker attends.
  nonisolated(nonsending) private func serve(
    _ node: SubscriptionNode, at position: Int, as worker: Worker
  ) async {
    var step = node.proceed()
    while true {
      switch step {
      case .handle(let content):
        let fate = await run(content.handler, on: node, at: position, as: worker)
        step = node.advance(after: fate)
        content.receipt?.pass()
      case .yield:
        await Task.yield()
        step = node.proceed()
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
        let call = worker.begin(at: position)
        defer { worker.end() }
        let context = HandlerContext(worker: worker, call: call)
        isAlive = try await HandlerContext.$current.withValue(context) { try await handle(node) }
      }
      return isAlive ? .handled : .skipped
    } catch {
      hub.report(error, in: node)
      return .failed
    }
  }
}
