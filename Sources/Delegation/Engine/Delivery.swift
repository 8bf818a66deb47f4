/// One delivery of pending notifications to subscriptions, on one executor.
///
/// *Workers* claim subscriptions from a shared work queue, one at a time and in order, and run their handlers. Before
/// its first handler, a worker requests a *spare worker* (``WorkSharing``). So a handler that suspends, or blocks its
/// thread, does not delay the others. A worker *attends* a mailbox while it runs the handlers of the mailbox's
/// notifications.
///
/// The delivery that a post requests takes all open subscriptions. A subscription with another executor than the hub's
/// waits in at most one delivery of that executor, and nobody attends its mailbox while it waits. So a blocked or
/// suspended executor delays only its own subscribers.
final class Delivery: Sendable {
  let core: HubCore
  /// The hub, retained until the last worker is done; `nil` on another executor than the hub's.
  private let hub: (any Actor)?
  private let executor: (any TaskExecutor)?
  let executorID: ObjectIdentifier?
  /// Whether the executor is not the hub's; if so, subscriptions count as workers of the hub, and the workers do not.
  let isElsewhere: Bool
  /// The workers' priority: by default that of the task that makes the delivery.
  private let priority: TaskPriority
  /// How many calls are nested around the first worker, all on one stack.
  private let depth: Int
  private struct Work: WorkSharing { var work: WorkQueue }
  private let work: Lock<Work>

  init(
    _ nodes: consuming [SubscriptionNode], for core: HubCore, on other: (any TaskExecutor)? = nil,
    priority: TaskPriority = Task.currentPriority, depth: Int = 0
  ) {
    (self.core, self.priority, self.depth) = (core, priority, depth)
    isElsewhere = other != nil
    // Another executor may be blocked for good: a delivery that waits there must not keep the hub alive.
    hub = other == nil ? core.hub : nil
    executor = other ?? core.executor
    executorID = executor.map(Delegation.executorID)
    work = Lock(Work(work: WorkQueue(nodes)))
  }

  /// Requests one more worker.
  ///
  /// The worker's task is detached: handlers of notifications do not inherit the poster's task-locals.
  func requestWorker() {
    if !isElsewhere { core.countWorker() }
    Task.startDetached(on: executor, priority: priority) {
      await self.work()
      if !self.isElsewhere { self.core.uncountWorker() }
    }
  }

  /// Claims the next subscription; if ``isElsewhere``, skips those that ended while they waited for the executor.
  ///
  /// - Parameter isFirst: whether the worker has just begun, and so requests the spare worker first.
  /// - Returns: the subscription; `nil` if none is left.
  func claim(atBeginning isFirst: Bool = false) -> SubscriptionNode? {
    var next = isFirst ? work.begin { requestWorker() } : work.claimNext()
    while let node = next?.node {
      if !isElsewhere || node.leaveDelivery() { return node }
      next = work.claimNext()
    }
    return nil
  }
}

extension Delivery {
  /// Runs one worker.
  nonisolated(nonsending) func work() async {
    // A `Worker` is made for the first asynchronous handler: a synchronous one cannot call `drain` or another wait.
    var worker: Worker?
    var handled = 0
    var waiting: [SubscriptionNode] = []
    var next = claim(atBeginning: true)
    while let node = next {
      handled += await serve(node, as: &worker, sending: &waiting)
      if isElsewhere { core.uncountWorker() }
      if handled >= Mailbox.mostHandledAtOnce {
        handled = 0
        await Task.yield()
      }
      next = claim()
    }
    if !waiting.isEmpty { send(&waiting) }
  }

  /// Sends gathered subscriptions to their executors; those of one executor share a delivery, which is one job.
  ///
  /// Called before a handler, which may suspend, and at the worker's end. The deliveries start in the order of
  /// `waiting`: a dictionary's order would differ from run to run.
  private func send(_ waiting: inout [SubscriptionNode]) {
    var indices: [ObjectIdentifier: Int] = [:]
    var batches: [(executor: any TaskExecutor, nodes: [SubscriptionNode])] = []
    for node in waiting {
      // A subscription that has ended since it was gathered has no executor, and is no longer counted as a worker.
      guard let executor = node.executor else { continue }
      let id = Delegation.executorID(of: executor)
      let index = indices[id, default: batches.count]
      if index == batches.count {
        indices[id] = index
        batches.append((executor, []))
      }
      batches[index].nodes.append(node)
    }
    waiting = []
    for (executor, nodes) in batches {
      Delivery(nodes, for: core, on: executor, priority: priority).requestWorker()
    }
  }

  /// Runs the handlers of a subscription's notifications, adds it to `waiting` for another executor, or resumes a
  /// stream's loop.
  ///
  /// - Returns: how many handlers it has run.
  nonisolated(nonsending) private func serve(
    _ node: SubscriptionNode, as worker: inout Worker?, sending waiting: inout [SubscriptionNode]
  ) async -> Int {
    // Ends the subscription if its subscriber is dead: its notifications must not wait for a busy executor or handler.
    if node.hasExecutor || node.isAttended { _ = node.isReached(by: nil, endingIn: nil) }
    var handled = 0
    var step = node.attend(on: executorID)
    while true {
      // Consumed: workers share the content, and would contend for its count of references.
      switch consume step {
      case .handle(let content):
        if !waiting.isEmpty { send(&waiting) }
        handled += 1
        let receipt = content.receipt
        let call: CallKind = receipt == nil ? .notify : .notifyAndWait
        let fate = await run((consume content).handler, on: node, in: call, as: &worker)
        step = node.advance(after: fate, passing: receipt)
        continue
      case .elsewhere: waiting.append(node)
      case .wake(let waiter): waiter?.resume(true)
      // Ends the subscription if its subscriber is dead: the replaced subscription's handler, for which it waits, may
      // hang.
      case .later: _ = node.isReached(by: nil, endingIn: nil)
      // `SubscriptionNode.followUp` has done what these steps ask for.
      case .more, .done, .over: break
      }
      return handled
    }
  }

  @inline(__always)
  nonisolated(nonsending) private func run(
    _ handler: consuming Notification.Handler, on node: SubscriptionNode, in call: CallKind,
    as worker: inout Worker?
  ) async -> Notification.Fate {
    switch consume handler {
    case .synchronous(let handle): return run(handle, on: node, in: call)
    case .asynchronous(let handle): return await run(handle, on: node, in: call, as: &worker)
    case .bound(let handler, let context):
      return await run(handler, in: context, on: node, in: call, as: &worker)
    }
  }

  /// Runs a handler with the poster's task-locals bound; the handler's incidents carry them, too.
  nonisolated(nonsending) private func run(
    _ handler: Notification.Handler, in context: TaskLocalPropagation.Context,
    on node: SubscriptionNode, in call: CallKind, as worker: inout Worker?
  ) async -> Notification.Fate {
    var fate = Notification.Fate.expired
    await context.bind { fate = await run(handler, on: node, in: call, as: &worker) }
    return fate
  }

  /// Runs a synchronous handler; inlined, this would make each delivery dearer.
  @inline(never)
  private func run(
    _ handle: Notification.Synchronous, on node: SubscriptionNode, in call: CallKind
  ) -> Notification.Fate {
    guard node.mayHandle else { return .expired }
    node.noteCalled(by: node.reference)
    do {
      return try node.fate(of: handle(node.reference), in: call)
    } catch {
      return fail(error, on: node, in: call)
    }
  }

  nonisolated(nonsending) private func run(
    _ handle: Notification.Asynchronous, on node: SubscriptionNode, in call: CallKind,
    as present: inout Worker?
  ) async -> Notification.Fate {
    let worker = present ?? Worker(for: core.number, caller: nil, depth: depth)
    if present == nil { worker.task = HandlerContext.currentTask }
    present = worker
    guard node.mayHandle else { return .expired }
    node.noteCalled(by: node.reference)
    let context = HandlerContext(worker: worker, call: worker.begin(), node: node)
    defer { worker.end() }
    do {
      let fate = try await HandlerContext.binding.withValue(context) {
        try await handle(node.reference)
      }
      return node.fate(of: worker.takeFate(fate), in: call)
    } catch {
      return fail(error, on: node, in: call)
    }
  }

  /// Reports what a handler threw; inlined, this would make each delivery dearer.
  @inline(never)
  private func fail(
    _ error: any Error, on node: SubscriptionNode, in call: CallKind
  ) -> Notification.Fate {
    node.report(.failed, in: call, error: error)
    return .failed
  }
}

extension HubCore: TopicOwner {
  /// Starts the delivery that a post has requested and counted as a worker.
  ///
  /// The first worker begins on the thread of `caller` if there is one, the hub has no executor, and the system is new
  /// enough; otherwise on another thread.
  func startDelivery(
    of topic: Topic, priority: TaskPriority? = nil, onThreadOf caller: Caller? = nil
  ) {
    if let caller, executor == nil,
      #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    {
      return startHere(topic, priority, caller.depth)
    }
    Task.startDetached(on: executor, priority: priority) { [hub] in
      await Delivery(topic.beginDelivery(), for: self).work()
      withExtendedLifetime(hub) { self.uncountWorker() }
    }
  }

  /// Starts a delivery on the caller's thread; ``Question/startHere(_:)`` explains the loop.
  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  @inline(never)
  private func startHere(_ topic: Topic, _ priority: TaskPriority?, _ depth: Int) {
    for _ in 0..<1 {
      Task<Void, any Error>.immediateDetached(priority: priority) { [hub] in
        await Delivery(topic.beginDelivery(), for: self, depth: depth).work()
        withExtendedLifetime(hub) { self.uncountWorker() }
      }
    }
  }

  /// Requests a worker for one subscription; inlined, this would make each delivery dearer.
  @inline(never)
  func requestWorker(for node: SubscriptionNode, priority: TaskPriority) {
    Delivery([node], for: self, priority: priority).requestWorker()
  }

  func releaseOptions(of node: SubscriptionNode) {
    countWorker()
    Task.startDetached(on: executor) {
      node.releaseOptions()
      self.uncountWorker()
    }
  }

  func sweep(_ topic: Topic) {
    // In a task of its own: the sweep may release the last reference to a subscriber, whose `deinit` may block.
    Task.startDetached(on: executor) {
      repeat {
        var survivors = 0
        for node in topic.snapshot() {
          if node.reference.isAlive { survivors += 1 } else { node.terminate(as: .expired) }
        }
        topic.state.withLock { $0.didSweep(survivors: survivors) }
        // Many subscribers may have come and died during the sweep, and nobody else would request another.
      } while topic.state.withLock { $0.takeSweep() }
      // The sweep was counted as a worker by its request.
      self.uncountWorker()
    }
  }
}
