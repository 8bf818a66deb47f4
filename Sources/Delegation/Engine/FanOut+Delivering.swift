extension FanOut {
  /// Hands over what waits for a claimed subscription and for those claimed after it.
  nonisolated(nonsending) func deliver(from first: Claim) async {
    // Made for the first asynchronous handler: a synchronous one cannot wait for anything.
    var worker: Worker?
    var batches = ExecutorBatches()
    var next: Claim? = first
    while let claim = next {
      let node = claim.node
      let step = node.attendAndProceed()
      if case .rest = step {
      } else if case .relocate = step, let executor = node.executor {
        sendOff(batches.add(node, on: executor))
      } else {
        if !batches.isEmpty { sendOff(batches.takeAll()) }
        // Not kept here: what was handled is released before the next one is.
        await serve(node, from: consume step, as: &worker)
        if Task.isCancelled {
          if needsWorker { summonWorker() }
          return
        }
      }
      next = self.claim()
    }
    sendOff(batches.takeAll())
  }

  private func sendOff(_ batches: [ExecutorBatches.Batch]) {
    for batch in batches {
      FanOut(delivering: batch.nodes, for: workplace).summonAttendant(on: batch.executor)
    }
  }

  /// Has a subscription that is attended already served by another worker, where its handlers run now.
  private func sendOff(_ node: SubscriptionNode) {
    let executor = node.executor ?? workplace.executor
    FanOut(delivering: [node], for: workplace).summonAttendant(on: executor)
  }

  /// Asks for a worker for subscriptions all of which are attended already.
  ///
  /// It provides for its successor before it claims, as every standby does.
  private func summonAttendant(on executor: (any TaskExecutor)?) {
    summon(on: executor) {
      self.provideForSuccessor { self.summonAttendant(on: executor) }
      var worker: Worker?
      while let claim = self.claim() {
        await self.serve(claim.node, from: claim.node.proceed(), as: &worker)
        if Task.isCancelled {
          if self.needsWorker { self.summonAttendant(on: executor) }
          return
        }
      }
    }
  }

  /// Runs the handlers that wait in a mailbox that this worker attends.
  nonisolated(nonsending) private func serve(
    _ node: SubscriptionNode, from first: consuming Mailbox.Step, as worker: inout Worker?
  ) async {
    var step = consume first
    while true {
      // Consumed: what is handled is shared by all, and a second reference to it would be counted in
      // everybody's way.
      switch consume step {
      case .handle(let content):
        let receipt = content.receipt
        let call: CallKind = receipt == nil ? .notify : .notifyAndWait
        let fate: Mailbox.Fate
        switch (consume content).handler {
        case .synchronous(let handle):
          fate = run(handle, on: node, node.reference, in: call)
        case .asynchronous(let handle):
          fate = await run(handle, on: node, node.reference, in: call, as: &worker)
        case .narrowed(let narrowed):
          fate = await run(narrowed, on: node, in: call, as: &worker)
        }
        // A handler has cancelled this worker's task: the next one is not to find itself cancelled.
        if Task.isCancelled { node.relocate() }
        step = node.advance(after: fate)
        receipt?.pass()
      case .yield:
        await Task.yield()
        step = node.proceed()
      case .relocate:
        return sendOff(node)
      case .rest:
        return
      }
    }
  }

  /// Runs a handler if the subscriber conforms to a further protocol; if not, there is nothing to do.
  nonisolated(nonsending) private func run(
    _ narrowed: Notification.Narrowed, on node: SubscriptionNode, in call: CallKind,
    as worker: inout Worker?
  ) async -> Mailbox.Fate {
    guard node.isOpen else { return .skipped }
    guard let shared = node.reference(as: narrowed.narrowing, for: call) else {
      return fate(of: node.reference.isAlive, on: node, in: call)
    }
    switch narrowed.handler {
    case .synchronous(let handle):
      return run(handle, on: node, shared.reference, in: call)
    case .asynchronous(let handle):
      return await run(handle, on: node, shared.reference, in: call, as: &worker)
    case .narrowed(let further):
      return await run(further, on: node, in: call, as: &worker)
    }
  }

  private func run(
    _ handle: Notification.Synchronous, on node: SubscriptionNode,
    _ reference: borrowing WeakReference, in call: CallKind
  ) -> Mailbox.Fate {
    guard node.isOpen else { return .skipped }
    let watch = slowWatch?.begin(node, in: call)
    defer { if let watch { slowWatch?.end(watch) } }
    do {
      return try fate(of: handle(reference), on: node, in: call)
    } catch {
      node.report(.failed(error), in: call)
      return .failed
    }
  }

  nonisolated(nonsending) private func run(
    _ handle: Notification.Asynchronous, on node: SubscriptionNode,
    _ reference: borrowing WeakReference, in call: CallKind, as present: inout Worker?
  ) async -> Mailbox.Fate {
    guard node.isOpen else { return .skipped }
    let worker = present ?? makeWorker()
    present = worker
    let watch = slowWatch?.begin(node, in: call)
    defer { if let watch { slowWatch?.end(watch) } }
    let context = HandlerContext(worker: worker, call: worker.begin(), node: node)
    defer { worker.end() }
    do {
      let isAlive = try await HandlerContext.binding.withValue(context) {
        try await handle(reference)
      }
      return fate(of: isAlive, on: node, in: call)
    } catch {
      node.report(.failed(error), in: call)
      return .failed
    }
  }

  private func fate(
    of isAlive: Bool, on node: SubscriptionNode, in call: CallKind
  ) -> Mailbox.Fate {
    if isAlive { return .handled }
    node.terminate(as: .expired, in: call)
    return .skipped
  }
}
