extension FanOut {
  /// Delivers the pending notifications of a claimed subscription and of those claimed after it.
  nonisolated(nonsending) func deliver(from first: Claim) async {
    // Made for the first asynchronous handler: a synchronous one cannot call `drain` and its like.
    var worker: Worker?
    var batches = ExecutorBatches()
    var next: Claim? = first
    while let claim = next {
      let node = claim.node
      // Also if it is attended: the executor that the worker waits for may be busy, suspended or gone.
      if node.hasExecutor { _ = node.isActive(endingIn: nil) }
      let step = node.attendAndProceed()
      if case .done = step {
      } else if case .relocate = step, let executor = node.executor {
        sendOff(batches.add(node, on: executor), holdingMore: !batches.isEmpty)
      } else {
        if !batches.isEmpty { sendOff(batches.takeAll(), holdingMore: true) }
        // Consumed, so that a notification is released before the next one is handled.
        await serve(node, from: consume step, as: &worker)
        // There is a standby as long as something is unclaimed.
        if Task.isCancelled { return }
      }
      next = self.claim()
    }
    if !batches.isEmpty { sendOff(batches.takeAll()) }
  }

  /// Sends batches to their executors.
  ///
  /// `enqueue` of an executor that is not ours may run the job at once, or block. So this worker calls it
  /// only if it holds nothing else that would wait meanwhile; otherwise other tasks do, one for each. If the
  /// hub's own executor runs them at once, it is the one that is waited for.
  /// Not inlined: usually there is none, and the code that starts workers would make each delivery dearer.
  ///
  /// - Parameters:
  ///   - batches: the batches.
  ///   - isHoldingMore: whether this worker attends other subscriptions.
  @inline(never)
  private func sendOff(_ batches: [ExecutorBatches.Batch], holdingMore isHoldingMore: Bool = false)
  {
    for batch in batches where batch.isPrompt { sendOff(batch.nodes, to: batch.executor) }
    var others = batches.filter { !$0.isPrompt }[...]
    let own = isHoldingMore ? nil : others.popLast()
    if !others.isEmpty {
      let others = Array(others)
      Task.startDetached(on: workplace.executor, priority: priority) { self.sendOff(others) }
    }
    if let own { sendOff(own.nodes, to: own.executor) }
  }

  /// Sends attended subscriptions to another worker, on an executor.
  private func sendOff(_ nodes: [SubscriptionNode], to executor: (any TaskExecutor)?) {
    FanOut(delivering: nodes, for: workplace).requestAttendingWorker(on: executor)
  }

  /// Requests a worker for subscriptions that are all attended already, and counted each.
  ///
  /// It provides for its successor before it claims, as every standby does.
  private func requestAttendingWorker(on executor: (any TaskExecutor)?) {
    Task.startDetached(on: executor, priority: priority) {
      self.cursor.provideForSuccessor { self.requestAttendingWorker(on: executor) }
      guard let first = self.claim() else { return }
      self.activity.begin()
      await self.attend(from: first, on: executor)
      self.activity.end()
    }
  }

  /// Serves a claimed subscription that is attended already, and those claimed after it.
  nonisolated(nonsending) private func attend(
    from first: Claim, on executor: (any TaskExecutor)?
  ) async {
    var worker: Worker?
    var next: Claim? = first
    while let claim = next {
      await serve(claim.node, from: claim.node.proceed(), as: &worker)
      if Task.isCancelled { return }
      next = self.claim()
    }
  }

  /// Runs the handlers of a mailbox that this worker attends.
  nonisolated(nonsending) private func serve(
    _ node: SubscriptionNode, from first: consuming Mailbox.Step, as worker: inout Worker?
  ) async {
    var step = consume first
    while true {
      // Consumed: the content is shared by all workers, and counting a second reference to it would be
      // contended.
      switch consume step {
      case .handle(let content):
        var receipt = content.receipt
        let call: CallKind = receipt == nil ? .notify : .notifyAndWait
        let fate: Mailbox.Fate
        switch (consume content).handler {
        case .synchronous(let handle):
          fate = run(handle, on: node, node.reference, in: call)
        case .asynchronous(let handle):
          fate = await run(handle, on: node, node.reference, in: call, as: &worker)
          if fate == .skipped, node.giveBack(.asynchronous(handle), with: receipt) { receipt = nil }
        case .special(let special):
          fate = await run(special, on: node, in: call, as: &worker)
          if fate == .skipped, node.giveBack(.special(special), with: receipt) { receipt = nil }
        }
        // A handler has cancelled this worker's task: the next handler must run in another task.
        if Task.isCancelled { node.relocate() }
        step = node.advance(after: fate)
        receipt?.pass()
      case .yield:
        if !node.hasExecutor {
          await Task.yield()
        } else if node.isSent {
          // Counted in the place of this worker, as it may be ended while the executor stands still.
          activity.end()
          await Task.yield()
          activity.begin()
        }
        step = node.proceed()
      case .relocate:
        if node.isActive(endingIn: nil) {
          return sendOff([node], to: node.executor ?? workplace.executor)
        }
        step = node.proceed()
      case .done:
        return
      }
    }
  }

  /// Runs a handler with the poster's task-locals, if the subscriber conforms to a further protocol; otherwise the
  /// notification is passed.
  ///
  /// Incidents are found within these task-locals, too.
  nonisolated(nonsending) private func run(
    _ special: Notification.Special, on node: SubscriptionNode, in call: CallKind,
    as worker: inout Worker?
  ) async -> Mailbox.Fate {
    guard node.mayHandle else { return .skipped }
    var fate = Mailbox.Fate.skipped
    guard let narrowing = special.narrowing else {
      await special.context.bind {
        fate = await run(special.handler, on: node, node.reference, in: call, as: &worker)
      }
      return fate
    }
    guard let reference = node.reference(as: narrowing, for: call) else {
      return self.fate(of: node.reference.isAlive, on: node, in: call)
    }
    return await run(special.handler, on: node, reference, in: call, as: &worker)
  }

  nonisolated(nonsending) private func run(
    _ handler: Notification.Handler, on node: SubscriptionNode,
    _ reference: borrowing WeakReference, in call: CallKind, as worker: inout Worker?
  ) async -> Mailbox.Fate {
    switch handler {
    case .synchronous(let handle): run(handle, on: node, reference, in: call)
    case .asynchronous(let handle): await run(handle, on: node, reference, in: call, as: &worker)
    case .special(let special): await run(special, on: node, in: call, as: &worker)
    }
  }

  /// Not inlined: as a part of an asynchronous function each delivery is dearer.
  @inline(never)
  private func run(
    _ handle: Notification.Synchronous, on node: SubscriptionNode,
    _ reference: borrowing WeakReference, in call: CallKind
  ) -> Mailbox.Fate {
    // Begun first: that may call an executor's `enqueue`, and the subscription may end meanwhile.
    let watch = slowWatch?.begin(node, in: call)
    defer { if let watch { slowWatch?.end(watch) } }
    guard node.mayHandle else { return .skipped }
    node.noteHeard(by: reference)
    do {
      return try fate(of: handle(reference), on: node, in: call)
    } catch {
      return fail(error, on: node, in: call, at: watch)
    }
  }

  nonisolated(nonsending) private func run(
    _ handle: Notification.Asynchronous, on node: SubscriptionNode,
    _ reference: borrowing WeakReference, in call: CallKind, as present: inout Worker?
  ) async -> Mailbox.Fate {
    let worker = present ?? Worker(activity: activity, caller: nil)
    present = worker
    let watch = slowWatch?.begin(node, in: call)
    defer { if let watch { slowWatch?.end(watch) } }
    guard node.mayHandle else { return .skipped }
    node.noteHeard(by: reference)
    let context = HandlerContext(worker: worker, call: worker.begin(), node: node)
    defer { worker.end() }
    do {
      let isAlive = try await HandlerContext.binding.withValue(context) {
        try await handle(reference)
      }
      return fate(of: isAlive, on: node, in: call)
    } catch {
      return fail(error, on: node, in: call, at: watch)
    }
  }

  /// Reports a handler that threw; not inlined, for it would make each delivery dearer.
  @inline(never)
  private func fail(
    _ error: any Error, on node: SubscriptionNode, in call: CallKind, at ticket: SlowWatch.Ticket?
  ) -> Mailbox.Fate {
    node.report(
      .failed, in: call, error: error, since: ticket.flatMap { slowWatch?.start(of: $0) })
    return .failed
  }

  private func fate(
    of isAlive: Bool, on node: SubscriptionNode, in call: CallKind
  ) -> Mailbox.Fate {
    if isAlive { return .handled }
    node.terminate(as: .expired, in: call)
    return .skipped
  }
}
