internal import Synchronization

/// One call on many subscribers: the library's only call loop, for notifications and questions alike.
///
/// *Workers* claim positions from a shared index, one at a time and in order, and run each handler in
/// place. Whenever something is unclaimed there is one worker that has been asked for and not started,
/// the *standby*; one that starts with more than one position left asks for the next before it claims.
/// So a handler that suspends, or blocks its thread, holds up nobody behind it, and tasks are paid for
/// by the suspension rather than by the subscriber. The exception is a question's first worker, which
/// starts in the caller's place: its standby is asked for when it comes back suspended.
final class FanOut: Sendable {
  /// What to do at each position.
  enum Errand: Sendable {
    /// Hand over the notifications that wait in the subscription's mailbox.
    case deliver
    /// Ask the subscriber and report to the poll.
    case ask(@Sendable (FanOut, SubscriptionNode, Int) async -> Void)
  }

  let nodes: [SubscriptionNode]
  /// The handler that awaited this fan-out when it began, if any.
  private let origin: HandlerContext?
  /// How many fan-outs this one is nested in, plus one.
  let depth: Int
  /// Kept until the last worker is done: what was posted is delivered though the hub is let go.
  private let hub: DelegateHub
  private let errand: Errand
  /// The next position to claim; beyond the last one when all are claimed or the fan-out is stopped.
  private let next = Atomic<Int>(0)
  private let crew = Lock(Crew())

  /// What `next` is set to when nothing more may be claimed.
  private static let stopped = Int.max / 2
  /// From this depth on, workers are not started in the caller's place: it would use up the stack.
  private static let deepest = 16

  /// Fans out the notifications that wait.
  init(delivering nodes: [SubscriptionNode], for hub: DelegateHub) {
    self.nodes = nodes
    self.hub = hub
    errand = .deliver
    origin = nil
    depth = 0
  }

  /// Fans out a question that the present code awaits.
  init(
    asking nodes: [SubscriptionNode], for hub: DelegateHub,
    _ ask: @escaping @Sendable (FanOut, SubscriptionNode, Int) async -> Void
  ) {
    self.nodes = nodes
    self.hub = hub
    errand = .ask(ask)
    origin = HandlerContext.current
    depth = HandlerContext.depth + 1
  }

  // MARK: Starting and stopping

  /// Starts the first worker in the caller's place, and returns when it is done or has suspended.
  func startInPlace() {
    guard hub.configuration.executor == nil, depth < Self.deepest,
      #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    else { return summonWorker() }
    hub.inbox.activity.begin()
    Task.immediate { await self.work(isStandby: false) }
    if unclaimed > 0 { summonWorker() }
  }

  /// Begins no further handler, and cancels those that run.
  func stop() {
    next.store(Self.stopped, ordering: .relaxed)
    cancel()
  }

  /// Cancels the handlers that run or will.
  func cancel() {
    crew.withLock { $0.cancel() }
  }

  /// Asks for one more worker.
  func summonWorker() {
    hub.inbox.activity.begin()
    let executor = hub.configuration.executor
    switch errand {
    case .deliver:
      // Detached: the poster's task-locals are not the handlers'.
      Task.detached(executorPreference: executor) { await self.work(isStandby: true) }
    case .ask:
      Task(executorPreference: executor) { await self.work(isStandby: true) }
    }
  }

  /// The handler that awaits this fan-out; nobody does once it is decided.
  var caller: HandlerContext? {
    next.load(ordering: .relaxed) >= Self.stopped ? nil : origin
  }

  // MARK: Working

  private var unclaimed: Int { nodes.count - next.load(ordering: .relaxed) }

  private func claim() -> Int? {
    // Without this look the index would grow with each worker that finds nothing.
    guard unclaimed > 0 else { return nil }
    let position = next.wrappingAdd(1, ordering: .relaxed).oldValue
    return position < nodes.count ? position : nil
  }

  /// One worker, from its first claim to its last. It was counted when it was asked for.
  func work(isStandby: Bool) async {
    if isStandby, unclaimed > 1 { summonWorker() }
    if let first = claim() {
      let worker = Worker(in: self)
      switch errand {
      case .deliver: await deliver(from: first, as: worker)
      case .ask(let ask): await self.ask(ask, from: first, as: worker)
      }
    }
    hub.inbox.workerEnded()
  }

  private func ask(
    _ ask: @Sendable (FanOut, SubscriptionNode, Int) async -> Void, from first: Int,
    as worker: Worker
  ) async {
    await withUnsafeCurrentTask { task in
      let member = task.map { Crew.Member(task: $0) }
      if let member { crew.withLock { $0.join(member) } }
      await HandlerContext.$current.withValue(HandlerContext(worker: worker, call: nil)) {
        var next: Int? = first
        while let position = next {
          worker.begin(at: position)
          await ask(self, nodes[position], position)
          next = claim()
        }
      }
      worker.end()
      if let member { crew.withLock { $0.leave(member) } }
    }
  }

  private func deliver(from first: Int, as worker: Worker) async {
    var next: Int? = first
    while let position = next {
      let node = nodes[position]
      if let handler = node.attend() {
        await attend(node, at: position, beginningWith: handler, as: worker)
      }
      next = claim()
    }
  }

  /// Runs the handlers that wait in a mailbox that this worker attends.
  private func attend(
    _ node: SubscriptionNode, at position: Int, beginningWith first: Notification.Handler,
    as worker: Worker
  ) async {
    var step = Mailbox.Step.handle(first)
    while true {
      switch step {
      case .handle(let handler):
        step = node.advance(after: await run(handler, on: node, at: position, as: worker))
      case .yield:
        await Task.yield()
        step = node.resume()
      case .rest:
        return
      }
    }
  }

  private func run(
    _ handler: Notification.Handler, on node: SubscriptionNode, at position: Int, as worker: Worker
  ) async -> Mailbox.Fate {
    guard node.isOpen else { return .skipped }
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
