/// How questions are asked side by side: by a ``Round``, whose ``Poll`` counts the answers.
///
/// A single subscriber that needs neither is asked in the caller's task.
extension DelegateHub {
  /// The only subscription among those of a protocol, if it can be asked in the caller's task: then no round is
  /// needed, for its handler delays no other one, and nothing can be decided before it returns.
  @usableFromInline
  nonisolated func soleSubscription(of nodes: [SubscriptionNode]) -> SubscriptionNode? {
    mayAskInPlace && nodes.count == 1 && !nodes[0].hasExecutor ? nodes[0] : nil
  }

  /// Asks the subscribers of an audience side by side, and decides by what they answer.
  ///
  /// - Parameters:
  ///   - audience: who is asked.
  ///   - given: their subscriptions, if they are known; otherwise the present ones.
  ///   - combiner: combines the answers.
  ///   - call: the kind of call.
  ///   - deadline: the deadline of the decision; `nil` for none.
  ///   - asking: asks one subscriber.
  /// - Returns: the decision.
  @_alwaysEmitIntoClient
  @inline(__always)
  nonisolated func decide<P, C: Combiner, E>(
    _ audience: Audience<P>, among given: [SubscriptionNode]? = nil, by combiner: C,
    in call: CallKind, within deadline: Deadline? = nil, _ asking: some Asking<C.Response, E>
  ) async -> Result<C.Outcome, E> {
    let nodes = given ?? snapshot(of: audience.key)
    var ballot = Ballot<C, E>(
      asking: nodes.count, combiner: combiner, hasDeadline: deadline != nil)
    if let decision = ballot.begin() { return decision }
    // After the combiner, which is the user's and may have given it an executor.
    if deadline == nil, let node = soleSubscription(of: nodes) {
      let worker = beginAsking()
      let answer = await worker.ask(node, in: call, absence: .absence) {
        await asking.answer(of: $0, in: nil)
      }
      let decision = ballot.count(answer, from: 0) ?? ballot.finish()
      endAsking(worker)
      return decision
    }
    return await conduct(
      asking, in: call, of: audience, among: consume nodes, counting: ballot, within: deadline)
  }

  /// Asks subscriptions in a round, and counts their answers.
  ///
  /// - Parameters:
  ///   - asking: asks one subscriber.
  ///   - call: the kind of call.
  ///   - audience: who is asked.
  ///   - nodes: their subscriptions; a suspended handler is not to keep all of them.
  ///   - first: the position of the first that is asked.
  ///   - ballot: counts the answers; it has begun, and has not decided.
  ///   - deadline: the deadline of the decision; `nil` for none.
  /// - Returns: the decision.
  @_alwaysEmitIntoClient
  @inline(__always)
  nonisolated func conduct<P, C: Combiner, E>(
    _ asking: some Asking<C.Response, E>, in call: CallKind, of audience: Audience<P>,
    among nodes: consuming [SubscriptionNode], from first: Int = 0, counting ballot: Ballot<C, E>,
    within deadline: Deadline? = nil
  ) async -> Result<C.Outcome, E> {
    let poll = Poll(ballot)
    var expire: Round.Expire?
    if deadline != nil {
      let (nodes, late, admits) = (nodes, asking.late, audience.admits)
      expire = { round, start in
        poll.expire(in: round) { position in
          let isLate = nodes[position].isLate(admittedBy: admits, in: call, notingSince: start)
          return isLate ? late(nodes[position]) : .absence
        }
      }
    }
    let undecided = startRound(
      asking: consume nodes, from: first, admittedBy: audience.admits, in: call,
      by: deadline, expire, asking.question(countedBy: poll))
    if let undecided { await finish(undecided) }
    return Poll.takeDecision(of: poll)
  }

  /// Makes a round, and starts it in the caller's place if its handlers may run there, and no executor is preferred: a
  /// caller that prefers one has to wait for it before ``finish(_:)``.
  ///
  /// With a deadline it does not start there: a handler that blocks its thread must not keep the caller.
  ///
  /// - Returns: the round, for ``finish(_:)``; `nil` if it is decided.
  @usableFromInline
  nonisolated func startRound(
    asking nodes: consuming [SubscriptionNode], from first: Int, admittedBy admits: Admission?,
    in call: CallKind, by deadline: Deadline?, _ expire: Round.Expire?,
    _ question: @escaping Round.Question
  ) -> Round? {
    var expiry: Round.Expiry?
    if let deadline, let expire { expiry = Round.Expiry(at: deadline, expire) }
    let round = Round(
      asking: consume nodes, from: first, admittedBy: admits, for: self, in: call,
      expiring: expiry, question)
    if let expiry, expiry.deadline.isPast {
      expiry.count(in: round)
      return nil
    }
    // The caller is counted before a handler can wait for the rest of the hub, until it has requested the standby: the
    // subscribers that are still to be asked are a part of that.
    activity.begin()
    guard expiry == nil, executor == nil, round.start() else { return round }
    activity.end()
    return nil
  }

  /// Has a round go on, waits until it is decided or for its deadline, and passes on what happens to the caller meanwhile.
  @usableFromInline
  nonisolated func finish(_ round: Round) async {
    let expiry = round.expiry
    let cancelAlarm = expiry?.deadline.schedule { round.noteDeadline() }
    defer { cancelAlarm?() }
    await withTaskCancellationHandler {
      round.goOn()
      activity.end()
      await round.waitForDecision()
      guard let expiry, !round.isDecided else { return }
      // By the caller, so that the combiner's last calls have its task-locals and priority.
      expiry.count(in: round)
      await round.waitForDecision()
    } onCancel: {
      round.cancel()
    }
  }

  /// Counts the current task as a worker that asks.
  ///
  /// - Returns: the worker, for ``endAsking(_:)``.
  @usableFromInline
  nonisolated func beginAsking() -> Worker {
    activity.begin()
    return Worker(activity: activity, caller: Caller.present)
  }

  /// Counts off the current task, which asks nobody any more.
  @usableFromInline
  nonisolated func endAsking(_ worker: Worker) {
    worker.caller?.clear()
    activity.end()
  }
}
