extension DelegateHub {
  /// Conducts a poll among subscriptions, side by side.
  @inlinable
  nonisolated(nonsending) func conduct<Count>(
    _ poll: Poll<Count>, among nodes: [SubscriptionNode], by deadline: Deadline? = nil,
    in call: CallKind, _ question: @escaping FanOut.Question
  ) async -> Count.Decision {
    if let decision = poll.open(isExpired: deadline?.isPast ?? false) { return decision }
    let fanOut = FanOut(asking: nodes, for: self, in: call, question)
    if nodes.count == 1, deadline == nil {
      // Nobody else is held up, and nothing can be decided before: no task is needed.
      await fanOut.runInTurn()
      if let decision = poll.decision { return decision }
    }
    return await withTaskCancellationHandler {
      guard let deadline else {
        fanOut.startInPlace()
        if let decision = poll.decision { return decision }
        return await waitForDecision(of: poll, by: fanOut)
      }
      // Not in the caller's place: a handler that blocks its thread must not keep the caller.
      fanOut.summonWorker()
      let timer = Task.startDetached(on: configuration.executor) {
        // If it is cancelled the poll is decided already.
        await deadline.wait()
        poll.expire(in: fanOut)
      }
      defer { timer.cancel() }
      return await waitForDecision(of: poll, by: fanOut)
    } onCancel: {
      fanOut.cancel()
    }
  }

  /// Waiters for a decision, handing the urgency of whoever waits on to those who work for it.
  @inlinable
  nonisolated(nonsending) func waitForDecision<Count>(
    of poll: Poll<Count>, by fanOut: FanOut
  ) async -> Count.Decision {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
      return await poll.waitForDecision()
    }
    return await withTaskPriorityEscalationHandler {
      await poll.waitForDecision()
    } onPriorityEscalated: { _, priority in
      fanOut.escalate(to: priority)
    }
  }
}

extension SubscriptionNode {
  /// Begins a call of the asking kind, which ``endCall()`` has to end.
  ///
  /// The call itself is the asker's: through a generic function, each result would go by way of a
  /// conversion that is one more asynchronous call.
  ///
  /// - Returns: the subscriber, or `nil` if there is no call.
  @inlinable
  @inline(__always)
  func beginCall<P>(on type: P.Type, for call: CallKind) -> P? {
    guard beginCall() else { return nil }
    if let subscriber = subscriber(as: type, for: call) {
      noteHeard()
      return subscriber
    }
    endCall()
    return nil
  }
}
