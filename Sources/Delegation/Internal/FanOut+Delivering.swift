extension FanOut {
  /// Hands over what waits for the subscriber at a position and for those claimed after it.
  func deliver(from first: Int) async {
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
        isAlive = try await HandlerContext.binding.withValue(context) { try await handle(node) }
      }
      return isAlive ? .handled : .skipped
    } catch {
      hub.report(error, in: node)
      return .failed
    }
  }
}
