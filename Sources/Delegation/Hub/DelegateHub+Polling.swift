extension DelegateHub {
  /// Conducts a poll among subscriptions, side by side.
  @inlinable
  nonisolated(nonsending) func conduct<Count>(
    _ poll: Poll<Count>, among nodes: consuming [SubscriptionNode], in call: CallKind,
    _ question: @escaping FanOut.Question
  ) async -> Count.Decision {
    if let decision = poll.begin() { return decision }
    let isSingle = nodes.count == 1
    let fanOut = FanOut(asking: nodes, for: self, in: call, question)
    if isSingle {
      // Nobody else is held up, and nothing can be decided before: no task is needed.
      await fanOut.runInTurn()
      if let decision = poll.takeDecision() { return decision }
    }
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
  ///   - nodes: whom to ask.
  ///   - deadline: when to decide at the latest; `nil` for never.
  ///   - order: whether to ask side by side.
  ///   - absence: what to count then for those who have not answered, by position. Those who were not
  ///     asked and have ended meanwhile count as absent all the same.
  ///   - late: told of each who has not answered at a deadline that was not past from the start.
  ///   - call: the call that this is.
  ///   - question: what to ask.
  /// - Returns: the decision.
  @inlinable
  nonisolated(nonsending) func conduct<Count>(
    _ poll: Poll<Count>, among nodes: consuming [SubscriptionNode], by deadline: Deadline?,
    inOrder order: FanOut.Order = .sideBySide,
    counting absence: @escaping @Sendable (Int) -> Count.Event,
    noting late: @escaping @Sendable (Int) -> Void, in call: CallKind,
    _ question: @escaping FanOut.Question
  ) async -> Count.Decision {
    guard let deadline else { return await conduct(poll, among: nodes, in: call, question) }
    if let decision = poll.begin() { return decision }
    if deadline.isPast, let decision = poll.expireUnasked(counting: absence) { return decision }
    let fanOut = FanOut(asking: nodes, inOrder: order, for: self, in: call, question)
    return await withTaskCancellationHandler {
      // Not in the caller's place: a handler that blocks its thread must not keep the caller.
      fanOut.requestWorker()
      let alarm = deadline.schedule {
        poll.expire(in: fanOut) { position -> Count.Event in
          guard fanOut.isLate(at: position) else { return Count.absence }
          late(position)
          return absence(position)
        }
      }
      defer { alarm.cancel() }
      return await waitForDecision(of: poll, by: fanOut)
    } onCancel: {
      // Not in the canceller's place, which the caller could not leave before they have run.
      fanOut.cancel(inPlace: false)
    }
  }

  /// Waits for a decision, handing the urgency of whoever waits on to those who work for it.
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
