/// The delivery of pending notifications to subscriptions, all on one executor; at the end, how a hub starts one.
///
/// *Workers* claim subscriptions from a shared work queue, one at a time and in order, and run their handlers. While a
/// subscription is unclaimed, a *spare worker* has been requested and has claimed nothing (``WorkSharing``). So a
/// handler that suspends, or blocks its thread, does not delay the others, and the number of tasks grows with
/// suspensions, not with subscribers. A worker *attends* a mailbox while it runs the handlers of its notifications.
///
/// A hub's delivery takes all open subscriptions. A subscription with another executor waits in at most one delivery of
/// that executor, and nobody attends its mailbox while it waits. So a blocked or suspended executor delays only its own
/// subscribers.
final class Delivery: Sendable {
  let core: HubCore
  /// Retained until the last worker is done; `nil` on another executor than the hub's.
  private let hub: (any Actor)?
  /// Where its workers run; `nil` for the default.
  private let executor: (any TaskExecutor)?
  /// The executor's.
  let executorID: ObjectIdentifier?
  /// Whether the executor is not the hub's, so that each subscription is counted, and not the workers.
  let isElsewhere: Bool
  /// The priority of all workers: higher than the default if a caller waits for the notifications.
  private let priority: TaskPriority
  /// In how many calls its first worker is nested, all of them on one stack.
  private let depth: Int
  private let work: Lock<WorkQueue>

  /// Makes the hub's delivery, or that of another executor.
  init(
    _ nodes: consuming [SubscriptionNode], for core: HubCore, on other: (any TaskExecutor)? = nil,
    priority: TaskPriority = Task.currentPriority, depth: Int = 0
  ) {
    self.core = core
    isElsewhere = other != nil
    // The executor may be blocked for good: what waits there keeps only the subscriptions alive.
    hub = other == nil ? core.hub : nil
    executor = other ?? core.executor
    executorID = executor.map(Delegation.executorID)
    self.priority = priority
    self.depth = depth
    work = Lock(WorkQueue(nodes))
  }

  /// Requests one more worker.
  ///
  /// Its task is detached: handlers of notifications do not inherit the poster's task-locals.
  func requestWorker() {
    if !isElsewhere { core.countWorker() }
    Task.startDetached(on: executor, priority: priority) {
      await self.work()
      if !self.isElsewhere { self.core.uncountWorker() }
    }
  }

  /// Claims the next subscription; on another executor, the next that has not ended while it waited.
  ///
  /// - Parameter isFirst: whether the worker begins, and requests the spare worker before.
  /// - Returns: the subscription; `nil` if none is left.
  func claim(atBeginning isFirst: Bool = false) -> SubscriptionNode? {
    var next = isFirst ? work.begin { requestWorker() } : work.claim()
    while let node = next?.node {
      if !isElsewhere || node.leaveDelivery() { return node }
      next = work.claim()
    }
    return nil
  }
}

/// How a delivery's workers run handlers.
extension Delivery {
  /// Runs one worker, after requesting the next spare worker.
  nonisolated(nonsending) func work() async {
    // Made for the first asynchronous handler: a synchronous one cannot call `drain` or another wait.
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

  /// Sends subscriptions to their executors, once the worker has gathered some and is about to run a handler: those of
  /// one executor share a delivery, which is one job for many.
  ///
  /// Executors keep the order of their first subscriptions: a schedule is the same each time.
  private func send(_ waiting: inout [SubscriptionNode]) {
    var indices: [ObjectIdentifier: Int] = [:]
    var batches: [(executor: any TaskExecutor, nodes: [SubscriptionNode])] = []
    for node in waiting {
      // A subscription that has ended meanwhile counts no longer.
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

  /// Runs the handlers of a subscription, or adds it to another delivery.
  ///
  /// - Returns: how many it has run.
  nonisolated(nonsending) private func serve(
    _ node: SubscriptionNode, as worker: inout Worker?,
    sending waiting: inout [SubscriptionNode]
  ) async -> Int {
    // A dead subscriber's notifications are not to wait for an executor, an interceptor or the main actor.
    if node.hasExecutor || node.isAttended { _ = node.isReached(by: nil, endingIn: nil) }
    var handled = 0
    var step = node.attend(on: executorID)
    while true {
      // Consumed: all workers share the content, and counting a second reference to it would be contended.
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
      // The handler that it waits for may hang: a dead subscriber's notifications are not to wait for that.
      case .later: _ = node.isReached(by: nil, endingIn: nil)
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

  /// Incidents are found within the poster's task-locals, too.
  nonisolated(nonsending) private func run(
    _ handler: Notification.Handler, in context: TaskLocalPropagation.Context,
    on node: SubscriptionNode, in call: CallKind, as worker: inout Worker?
  ) async -> Notification.Fate {
    var fate = Notification.Fate.expired
    await context.bind {
      fate = await run(handler, on: node, in: call, as: &worker)
    }
    return fate
  }

  /// Not inlined: as a part of an asynchronous function it would make each delivery dearer.
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

  /// Reports a handler that threw; not inlined, since that would make each delivery dearer.
  @inline(never)
  private func fail(
    _ error: any Error, on node: SubscriptionNode, in call: CallKind
  ) -> Notification.Fate {
    node.report(.failed, in: call, error: error)
    return .failed
  }
}

extension HubCore: TopicOwner {
  /// Starts the delivery that a post has requested.
  ///
  /// - Parameters:
  ///   - topic: the topic.
  ///   - priority: the workers' priority; `nil` for the default.
  ///   - caller: a caller that waits for the notification; the first worker begins on its thread, if the hub has no
  ///     executor and the system can.
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

  /// The loop is explained at ``Question/startHere(_:)``.
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

  /// Not inlined, as it would make each delivery dearer.
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
    // In a task of its own: the sweep may release the last reference to a subscriber.
    Task.startDetached(on: executor) {
      repeat {
        var survivors = 0
        for node in topic.snapshot() {
          if node.reference.isAlive { survivors += 1 } else { node.terminate(as: .expired) }
        }
        topic.state.withLock { $0.didSweep(survivors: survivors) }
        // Many may have subscribed and died meanwhile, and nobody else would request another sweep.
      } while topic.state.withLock { $0.takeSweep() }
      self.uncountWorker()
    }
  }
}
