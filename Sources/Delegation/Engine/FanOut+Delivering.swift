extension FanOut {
  /// Hands over what waits for the subscriber at a position and for those claimed after it.
  func deliver(from first: Int) async {
    // Made for the first asynchronous handler: a synchronous one cannot wait for anything.
    var worker: Worker?
    var batches = ExecutorBatches()
    var next: Int? = first
    while let position = next {
      let node = nodes[position]
      if let executor = node.executor {
        if node.attend() { sendOff(batches.add(node, on: executor)) }
      } else {
        if !batches.isEmpty { sendOff(batches.takeAll()) }
        let step = node.attendAndProceed()
        if case .rest = step {
        } else {
          // Not kept here: what was handled is let go before the next one is.
          await serve(node, at: position, from: consume step, as: &worker)
        }
      }
      next = claim()
    }
    sendOff(batches.takeAll())
  }

  private func sendOff(_ batches: [ExecutorBatches.Batch]) {
    for batch in batches {
      FanOut(delivering: batch.nodes, for: hub).summonAttendant(on: batch.executor)
    }
  }

  /// Asks for a worker elsewhere, for subscriptions all of which are attended already.
  ///
  /// It asks for the next before it claims, as every standby does.
  private func summonAttendant(on executor: any TaskExecutor) {
    summon(on: executor) {
      if self.unclaimed > 1 { self.summonAttendant(on: executor) }
      var worker: Worker?
      while let position = self.claim() {
        let node = self.nodes[position]
        await self.serve(node, at: position, from: node.proceed(), as: &worker)
      }
      self.hub.inbox.workerEnded()
    }
  }

  /// Runs the handlers that wait in a mailbox that this worker attends.
  nonisolated(nonsending) private func serve(
    _ node: SubscriptionNode, at position: Int, from first: consuming Mailbox.Step,
    as worker: inout Worker?
  ) async {
    var step = consume first
    while true {
      // Consumed: what is handled is shared by all, and a second reference to it would be counted in
      // everybody's way.
      switch consume step {
      case .handle(let content):
        let receipt = content.receipt
        let fate: Mailbox.Fate
        switch (consume content).handler {
        case .synchronous(let handle):
          fate = run(handle, on: node, in: receipt == nil ? .notify : .notifyAndWait)
        case .asynchronous(let handle):
          let present = worker ?? makeWorker()
          worker = present
          fate = await run(
            handle, on: node, at: position, in: receipt == nil ? .notify : .notifyAndWait,
            as: present)
        }
        step = node.advance(after: fate)
        receipt?.pass()
      case .yield:
        await Task.yield()
        step = node.proceed()
      case .rest:
        return
      }
    }
  }

  private func run(
    _ handle: Notification.Synchronous, on node: SubscriptionNode, in call: CallKind
  ) -> Mailbox.Fate {
    guard node.isOpen else { return .skipped }
    let watch = slowWatch?.begin(node, in: call)
    defer { if let watch { slowWatch?.end(watch) } }
    do {
      return try handle(node) ? .handled : .skipped
    } catch {
      node.report(.failed, in: call, error: error)
      return .failed
    }
  }

  nonisolated(nonsending) private func run(
    _ handle: Notification.Asynchronous, on node: SubscriptionNode, at position: Int,
    in call: CallKind, as worker: Worker
  ) async -> Mailbox.Fate {
    guard node.isOpen else { return .skipped }
    let watch = slowWatch?.begin(node, in: call)
    defer { if let watch { slowWatch?.end(watch) } }
    let context = HandlerContext(worker: worker, call: worker.begin(at: position))
    defer { worker.end() }
    do {
      let isAlive = try await HandlerContext.binding.withValue(context) { try await handle(node) }
      return isAlive ? .handled : .skipped
    } catch {
      node.report(.failed, in: call, error: error)
      return .failed
    }
  }
}
