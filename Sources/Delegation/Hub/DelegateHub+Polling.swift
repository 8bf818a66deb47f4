extension DelegateHub {
  /// The only subscription of a protocol, if it is published and can be asked in the caller's task: then no round is
  /// needed, for its handler delays no other one, and nothing can be decided before it returns.
  @usableFromInline
  nonisolated func soleSubscription(
    of key: ObjectIdentifier, calledElsewhere isElsewhere: Bool
  ) -> SubscriptionNode? {
    guard !isElsewhere, executor == nil, let nodes = publishedSnapshot(of: key), nodes.count == 1,
      !nodes[0].hasExecutor
    else { return nil }
    return nodes[0]
  }

  /// Decides a question by the answer of its only subscription, which is asked in the caller's task.
  @inlinable
  @inline(__always)
  nonisolated func decide<Count: Countable>(
    _ ballot: consuming Count, in call: CallKind, of node: SubscriptionNode,
    asking ask: (SubscriptionNode) async -> Count.Event
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

  /// Conducts a question among the subscribers of an audience until its poll is decided.
  @inlinable
  @inline(__always)
  nonisolated func conduct<P>(
    _ audience: Audience<P>, in call: CallKind, by deadline: Deadline? = nil,
    calledElsewhere isElsewhere: Bool, _ begin: ([SubscriptionNode]) -> Inquiry?
  ) async {
    await conduct(
      audience.key, conformingTo: audience.narrowing, inOrder: .sideBySide, in: call,
      by: deadline, calledElsewhere: isElsewhere, begin)
  }

  /// Conducts a question among subscriptions until its poll is decided, which it is at a deadline.
  ///
  /// - Parameters:
  ///   - key: the key of the protocol.
  ///   - narrowing: the further protocols that the subscribers must conform to; `nil` for none.
  ///   - order: whether to ask side by side or in turn.
  ///   - call: the kind of call.
  ///   - deadline: the deadline of the decision; `nil` for none.
  ///   - isElsewhere: whether the caller prefers another executor: all of this is done on the hub's own.
  ///   - begin: begins the poll among the subscriptions; returns `nil` if that decides.
  @usableFromInline
  nonisolated func conduct(
    _ key: ObjectIdentifier, conformingTo narrowing: Narrowing?, inOrder order: Round.Order,
    in call: CallKind, by deadline: Deadline?, calledElsewhere isElsewhere: Bool,
    _ begin: ([SubscriptionNode]) -> Inquiry?
  ) async {
    if isElsewhere {
      return await withTaskExecutorPreference(ownExecutor) {
        await self.conduct(
          key, conformingTo: narrowing, inOrder: order, in: call, by: deadline,
          calledElsewhere: false, begin)
      }
    }
    let nodes = await subscriptions(of: key)
    guard let inquiry = begin(nodes) else { return }
    let round = Round(
      asking: consume nodes, conformingTo: narrowing, inOrder: order, for: self, in: call,
      inquiry.question)
    if let deadline {
      await conduct(round, by: deadline, expiring: inquiry.expire)
    } else if round.isForCaller {
      await round.askInCallersTask()
    } else {
      await conduct(consume round)
    }
  }

  /// Conducts the rest of a question, from a position on, until its poll is decided.
  @usableFromInline
  nonisolated func conduct(
    _ inquiry: Inquiry, among nodes: consuming [SubscriptionNode], from first: Int,
    conformingTo narrowing: Narrowing?, in call: CallKind, calledElsewhere isElsewhere: Bool
  ) async {
    let round = Round(
      asking: consume nodes, from: first, conformingTo: narrowing, for: self, in: call,
      inquiry.question)
    guard isElsewhere else { return await conduct(round) }
    await withTaskExecutorPreference(ownExecutor) { await self.conduct(round) }
  }

  private nonisolated func conduct(_ round: Round) async {
    let mayRunInPlace = executor == nil || isCalledOnOwnExecutor
    await withTaskCancellationHandler {
      if !round.start(inPlace: mayRunInPlace) { await waitForDecision(of: round) }
    } onCancel: {
      round.cancel(inPlace: true)
    }
  }

  private nonisolated func conduct(
    _ round: Round, by deadline: Deadline,
    expiring expire: @escaping @Sendable (Round, Bool) -> Void
  ) async {
    if deadline.isPast { return expire(round, false) }
    await withTaskCancellationHandler {
      // Not in the caller's place: a handler that blocks its thread must not keep the caller.
      round.requestWorker()
      let cancelAlarm = deadline.schedule { expire(round, true) }
      defer { cancelAlarm() }
      await waitForDecision(of: round)
    } onCancel: {
      // Not in the canceller's place: the caller could not return before the handlers have run.
      round.cancel(inPlace: false)
    }
  }

  /// Waits for a decision, and escalates the round when the waiting task is escalated.
  private nonisolated func waitForDecision(of round: Round) async {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
      return await round.waitForDecision()
    }
    await withTaskPriorityEscalationHandler {
      round.escalateToCaller()
      await round.waitForDecision()
    } onPriorityEscalated: { _, priority in
      round.escalate(to: priority)
    }
  }
}
