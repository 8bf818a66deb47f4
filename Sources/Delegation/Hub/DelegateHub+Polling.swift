extension DelegateHub {
  /// The only subscription of a snapshot, if it can be asked in the caller's task: then no fan-out is
  /// needed, for its handler delays no other one, and nothing can be decided before it returns.
  @inlinable
  nonisolated func soleSubscription(of nodes: [SubscriptionNode]) -> SubscriptionNode? {
    nodes.count == 1 && executor == nil && !nodes[0].hasExecutor ? nodes[0] : nil
  }

  /// Decides a question by the answer of its only subscription, which is asked in the caller's task.
  @inlinable
  @inline(__always)
  nonisolated(nonsending) func decide<Count: Countable>(
    _ ballot: consuming Count, in call: CallKind, of node: SubscriptionNode,
    asking ask: nonisolated(nonsending) (SubscriptionNode) async -> Count.Event
  ) async -> Count.Decision {
    if let decision = ballot.begin() { return decision }
    let worker = beginAsking()
    let answer = await worker.ask(
      node, in: call, watchedBy: slowWatch, absence: Count.absence, ask)
    let decision = ballot.count(answer, from: 0)
    endAsking(worker)
    guard let decision else { fatalError("Delegation: a poll went on undecided") }
    return decision
  }

  /// Counts the current task as a worker that asks.
  ///
  /// - Returns: the worker, for ``endAsking(_:)``.
  @usableFromInline
  nonisolated func beginAsking() -> Worker {
    inbox.activity.begin()
    return Worker(activity: inbox.activity, caller: Caller.present)
  }

  /// Counts off the current task, which asks nobody any more.
  @usableFromInline
  nonisolated func endAsking(_ worker: Worker) {
    worker.caller?.clear()
    inbox.activity.end()
  }

  /// Conducts a poll among subscriptions, side by side.
  @inlinable
  nonisolated(nonsending) func conduct<Count>(
    _ poll: Poll<Count>, among nodes: consuming [SubscriptionNode],
    conformingTo narrowing: Narrowing?, in call: CallKind, _ question: @escaping FanOut.Question
  ) async -> Count.Decision {
    if let decision = poll.begin() { return decision }
    let fanOut = FanOut(
      asking: consume nodes, conformingTo: narrowing, for: self, in: call, question)
    return await withTaskCancellationHandler {
      fanOut.startInPlace()
      if let decision = poll.takeDecision() { return decision }
      return await waitForDecision(of: poll, by: fanOut)
    } onCancel: {
      fanOut.cancel(inPlace: true)
    }
  }

  /// Conducts a poll among subscriptions by a deadline.
  ///
  /// - Parameters:
  ///   - poll: the poll.
  ///   - nodes: the subscriptions to ask.
  ///   - narrowing: the further protocols that their subscribers must conform to; `nil` for none.
  ///   - deadline: the deadline of the decision; `nil` for none.
  ///   - order: whether to ask side by side or in turn.
  ///   - absence: what to count at the deadline for a position that has not answered. Subscriptions that
  ///     ended before they were asked, and those that are not to be asked, count as absent all the same.
  ///   - late: called with each late position, unless the deadline was past from the start.
  ///   - call: the kind of call.
  ///   - question: a worker's part of the question.
  /// - Returns: the decision.
  @inlinable
  nonisolated(nonsending) func conduct<Count>(
    _ poll: Poll<Count>, among nodes: consuming [SubscriptionNode],
    conformingTo narrowing: Narrowing?, by deadline: Deadline?,
    inOrder order: FanOut.Order = .sideBySide,
    counting absence: @escaping @Sendable (Int) -> Count.Event,
    noting late: @escaping @Sendable (Int) -> Void, in call: CallKind,
    _ question: @escaping FanOut.Question
  ) async -> Count.Decision {
    guard let deadline else {
      return await conduct(
        poll, among: consume nodes, conformingTo: narrowing, in: call, question)
    }
    if let decision = poll.begin() { return decision }
    if deadline.isPast {
      let decision = poll.expireUnasked { position in
        nodes[position].isReached(as: narrowing, endingIn: call)
          ? absence(position) : Count.absence
      }
      if let decision { return decision }
    }
    let fanOut = FanOut(
      asking: consume nodes, conformingTo: narrowing, inOrder: order, for: self, in: call, question)
    return await withTaskCancellationHandler {
      // Not in the caller's place: a handler that blocks its thread must not keep the caller.
      fanOut.requestWorker()
      let cancelAlarm = deadline.schedule {
        poll.expire(in: fanOut) { position -> Count.Event in
          guard fanOut.isLate(at: position) else { return Count.absence }
          late(position)
          return absence(position)
        }
      }
      defer { cancelAlarm() }
      return await waitForDecision(of: poll, by: fanOut)
    } onCancel: {
      // Not in the canceller's place: the caller could not return before the handlers have run.
      fanOut.cancel(inPlace: false)
    }
  }

  /// Waits for a decision, and escalates the fan-out when the waiting task is escalated.
  @inlinable
  nonisolated(nonsending) func waitForDecision<Count>(
    of poll: Poll<Count>, by fanOut: FanOut
  ) async -> Count.Decision {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
      return await poll.waitForDecision()
    }
    return await withTaskPriorityEscalationHandler {
      fanOut.escalateToCaller()
      return await poll.waitForDecision()
    } onPriorityEscalated: { _, priority in
      fanOut.escalate(to: priority)
    }
  }
}
