/// Calls that are made now, where the caller runs.
extension DelegateHub {
  @_alwaysEmitIntoClient
  nonisolated func callEach<P, E>(
    _ recipients: Recipients<P>, reversed isReversed: Bool, _ body: (P) throws(E) -> Void
  ) throws(E) {
    let nodes = snapshot(of: recipients.key)
    if nodes.isEmpty { return }
    core.begin()
    defer { core.end() }
    for position in nodes.indices {
      let node = nodes[isReversed ? nodes.count - 1 - position : position]
      if try node.callForEach(in: recipients, body) == nil {
        try callHeir(of: node, in: recipients, body)
      }
    }
  }

  /// Calls the one that has the place of a subscription that was not called, if there is one.
  @_alwaysEmitIntoClient
  @inline(never)
  nonisolated func callHeir<P, E>(
    of node: SubscriptionNode, in recipients: Recipients<P>, _ body: (P) throws(E) -> Void
  ) throws(E) {
    var next = node.heir
    while let heir = next {
      next = try heir.callForEach(in: recipients, body) == nil ? heir.heir : nil
    }
  }

  nonisolated(nonsending) func callEach<P, E>(
    _ recipients: Recipients<P>, reversed isReversed: Bool,
    _ body: nonisolated(nonsending) (P) async throws(E) -> Void
  ) async throws(E) {
    // No array of the subscriptions has a name here, so that the last handler does not keep all of them.
    let nodes = snapshot(of: recipients.key)
    var work = WorkQueue(isReversed ? nodes.reversed() : consume nodes)
    let worker = beginAsking()
    defer { endAsking(worker) }
    while let claim = work.claim() {
      if claim.isLast { _ = work.release() }
      try await call(claim.node, in: recipients, as: worker, on: #isolation, body).get()
    }
  }

  /// Calls one subscriber in the caller's task.
  private func call<P, E>(
    _ node: SubscriptionNode, in recipients: Recipients<P>, as worker: Worker,
    on place: isolated (any Actor)?,
    _ body: nonisolated(nonsending) (P) async throws(E) -> Void
  ) async -> Result<Void, E> {
    await worker.ask(
      node, in: .forEach, absence: .success(()), on: place
    ) { node in
      _ = place
      guard let interception = core.interception else {
        return await node.answer(in: recipients, body)
      }
      var result: Result<Void, E>?
      if node.isReached(by: recipients.admits, endingIn: .forEach) {
        await interception.run(HandlerCall(.forEach, on: node)) {
          result = await node.answer(in: recipients, body)
          return worker.outcome
        }
      }
      if result == nil { HandlerContext.noteUnasked() }
      return result ?? .success(())
    }
  }
}

extension SubscriptionNode {
  /// Calls the subscriber in the caller's task.
  fileprivate nonisolated(nonsending) func answer<P, E>(
    in recipients: Recipients<P>, _ body: nonisolated(nonsending) (P) async throws(E) -> Void
  ) async -> Result<Void, E> {
    guard isOpen, let subscriber = subscriber(in: recipients, for: .forEach) else {
      HandlerContext.noteUnasked()
      return .success(())
    }
    if hasExecutor { stopAtExecutor() }
    do throws(E) {
      try await body(subscriber)
      return .success(())
    } catch {
      noteFailure(error)
      return .failure(error)
    }
  }

  /// Calls the subscriber on the current thread.
  ///
  /// - Returns: `nil` if it was not called.
  @_alwaysEmitIntoClient
  @inline(__always)
  func callForEach<P, E>(
    in recipients: Recipients<P>, _ body: (P) throws(E) -> Void
  ) throws(E) -> Void? {
    try call(in: recipients, for: .forEach) { subscriber throws(E) in
      if hasExecutor { stopAtExecutor() }
      try body(subscriber)
    }
  }

  /// Stops the program: a closure that stays with the caller cannot run on the subscription's executor.
  @usableFromInline
  func stopAtExecutor() -> Never {
    fatalError(
      """
      DelegateHub.forEach(_:) on \(topic.name): \(name(with: id)), subscribed at \(site), has an executor of its own \
      (`on:`), and forEach calls where the caller runs. Tell it by `notify`, or subscribe it without `on:`.
      """)
  }
}
