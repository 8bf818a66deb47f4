extension DelegateHub {
  /// Asks every subscriber of a protocol for a yes or no, side by side, and combines the answers.
  ///
  /// Returns as soon as the outcome is fixed: those still running are cancelled and not waited for,
  /// those not begun are not called.
  ///
  /// **Order.** Subscribers are asked by priority, then in order of subscription; each answers when it
  /// does. The slowest suspended answer sets the time, not the sum.
  ///
  /// **Isolation.** Handlers run on the hub's executor or the subscription's, on no actor, with the
  /// caller's task-locals and priority.
  ///
  /// **Cancellation.** Cancelling the caller's task cancels the handlers; the call returns when they
  /// have answered.
  ///
  /// **Errors.** The first error thrown fails the call, cancels the rest, and is rethrown with its type.
  ///
  /// ```swift
  /// if await hub.vote(WorkerDelegate.self, { await $0.worker(self, shouldPerform: subtask) }) {
  ///   perform(subtask)   // nobody said no
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to ask.
  ///   - rule: how the answers combine; by default one `false` denies, and nobody to ask means `true`.
  ///   - body: the question.
  /// - Returns: the outcome.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  public nonisolated func vote<P, E>(
    _ protocol: P.Type, by rule: some Combiner<Bool, Bool> = .unanimous,
    _ body: @escaping @Sendable (P) async throws(E) -> Bool
  ) async throws(E) -> Bool {
    try await ask(`protocol`, combining: rule, body)
  }

  /// Asks every subscriber of a protocol, side by side, and combines the responses.
  ///
  /// As ``vote(_:by:_:)``, for responses and outcomes of any type.
  ///
  /// ```swift
  /// let load = await hub.ask(Node.self, combining: .sum()) { await $0.load }
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to ask.
  ///   - combiner: how the responses combine.
  ///   - body: the question.
  /// - Returns: the combiner's outcome.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, plus the combiner's work.
  public nonisolated func ask<P, C: Combiner, E>(
    _ protocol: P.Type, combining combiner: C,
    _ body: @escaping @Sendable (P) async throws(E) -> C.Response
  ) async throws(E) -> C.Outcome {
    let nodes = await snapshot(of: ObjectIdentifier(`protocol`))
    var ballot = Ballot<C, E>(asking: nodes.count, combiner: combiner)
    if let decision = ballot.begin() { return try decision.get() }
    let poll = Poll(ballot)
    let fanOut = FanOut(asking: nodes, for: self) { fanOut, node, position in
      let event = await node.answer(to: body)
      poll.take(event, from: position, in: fanOut)
    }
    let decision = await withTaskCancellationHandler {
      fanOut.startInPlace()
      if let decision = poll.decision { return decision }
      return await poll.waitForDecision()
    } onCancel: {
      fanOut.cancel()
    }
    return try decision.get()
  }
}

extension SubscriptionNode {
  /// Asks the subscriber, and lets go of it before the answer is counted.
  fileprivate func answer<P, R, E>(
    to body: @Sendable (P) async throws(E) -> R
  ) async -> Answer<R, E> {
    guard beginCall() else { return .absence }
    defer { endCall() }
    guard let subscriber = subscriber(as: P.self) else { return .absence }
    do throws(E) {
      return .response(try await body(subscriber))
    } catch {
      return .failure(error)
    }
  }
}
