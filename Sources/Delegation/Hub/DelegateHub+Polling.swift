/// How questions are asked side by side: by a ``Round``, whose ``Poll`` counts the answers.
///
/// A single subscriber that needs neither is asked in the caller's task.
extension DelegateHub {
  /// The only subscription among those of a protocol, if it can be asked in the caller's task: then no round is
  /// needed, for its handler delays no other one, and nothing can be decided before it returns.
  @usableFromInline
  nonisolated func soleSubscription(of nodes: [SubscriptionNode]?) -> SubscriptionNode? {
    guard mayAskAlone, let nodes, nodes.count == 1, !nodes[0].hasExecutor else { return nil }
    return nodes[0]
  }

  /// Asks the subscribers of an audience side by side, and decides by what they answer.
  ///
  /// - Parameters:
  ///   - audience: who is asked.
  ///   - combiner: combines the answers.
  ///   - call: the kind of call.
  ///   - asking: asks one subscriber.
  /// - Returns: the decision.
  @inlinable
  @inline(__always)
  nonisolated func decide<P, C: Combiner, E>(
    _ audience: Audience<P>, by combiner: C, in call: CallKind, _ asking: some Asking<C.Response, E>
  ) async -> Result<C.Outcome, E> {
    let isElsewhere = isCalledOnOtherExecutor
    let published = isElsewhere ? nil : snapshot(of: audience.key)
    var begun: Ballot<C, E>?
    if let node = soleSubscription(of: published) {
      var ballot = Ballot<C, E>(asking: 1, combiner: combiner)
      if let decision = ballot.begin() { return decision }
      if node.hasExecutor {
        // It has got one meanwhile, as from the combiner, which is the user's.
        begun = ballot
      } else {
        let worker = beginAsking()
        let answer = await worker.ask(node, in: call, watchedBy: slowWatch, absence: .absence) {
          await asking.answer(of: $0, in: nil)
        }
        let decision = ballot.count(answer, from: 0)
        endAsking(worker)
        if let decision { return decision }
      }
    }
    var poll: Poll<Ballot<C, E>>?
    await conduct(
      audience.key, among: consume published, conformingTo: audience.narrowing, in: call,
      calledElsewhere: isElsewhere
    ) { nodes in
      let present = Poll(begun ?? Ballot<C, E>(asking: nodes.count, combiner: combiner))
      poll = present
      if begun == nil, present.isDecidedAtOnce() { return nil }
      return (asking.question(countedBy: present), nil)
    }
    return Poll.takeDecision(of: poll)
  }

  /// Asks side by side in a round, and decides by a deadline.
  ///
  /// It is apart from ``decide(_:by:in:_:)``, so that a call that can have none does not carry its code.
  ///
  /// - Parameters:
  ///   - audience: who is asked.
  ///   - given: their subscriptions, if they are known; otherwise the present ones.
  ///   - combiner: combines the answers.
  ///   - call: the kind of call.
  ///   - deadline: the deadline of the decision; `nil` for none.
  ///   - asking: asks one subscriber.
  /// - Returns: the decision.
  @inlinable
  @inline(__always)
  nonisolated func decide<P, C: Combiner, E>(
    _ audience: Audience<P>, among given: [SubscriptionNode]? = nil, by combiner: C,
    in call: CallKind, within deadline: Deadline?, _ asking: some Asking<C.Response, E>
  ) async -> Result<C.Outcome, E> {
    var poll: Poll<Ballot<C, E>>?
    await conduct(
      audience.key, among: given, conformingTo: audience.narrowing, in: call, by: deadline
    ) { nodes in
      let present = Poll(
        Ballot<C, E>(asking: nodes.count, combiner: combiner, hasDeadline: deadline != nil))
      poll = present
      if present.isDecidedAtOnce() { return nil }
      let late = asking.late
      let expire: Round.Expire = { round, start in
        present.expire(in: round) { position in
          let isLate = round.isLate(nodes[position], at: position, notingSince: start)
          return isLate ? late(nodes[position]) : .absence
        }
      }
      return (asking.question(countedBy: present), expire)
    }
    return Poll.takeDecision(of: poll)
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

  /// Conducts a question among subscriptions until its poll is decided, which it is at a deadline.
  ///
  /// - Parameters:
  ///   - key: the key of the protocol.
  ///   - given: the subscriptions, if they are known; a suspended handler is not to keep all of them.
  ///   - first: the position of the first that is asked.
  ///   - narrowing: the further protocols that the subscribers must conform to; `nil` for none.
  ///   - call: the kind of call.
  ///   - deadline: the deadline of the decision; `nil` for none.
  ///   - isElsewhere: whether the caller prefers another executor, if that is known: all of this is done on the
  ///     hub's own.
  ///   - begin: begins the poll among the subscriptions; returns what the workers do and what is done at the
  ///     deadline, or `nil` if the poll is decided.
  @usableFromInline
  nonisolated func conduct(
    _ key: ObjectIdentifier, among given: consuming [SubscriptionNode]?, from first: Int = 0,
    conformingTo narrowing: Narrowing?, in call: CallKind, by deadline: Deadline? = nil,
    calledElsewhere isElsewhere: Bool? = nil,
    _ begin: ([SubscriptionNode]) -> (Round.Question, Round.Expire?)?
  ) async {
    if isElsewhere ?? isCalledOnOtherExecutor {
      let given = given
      return await withTaskExecutorPreference(ownExecutor) {
        await self.conduct(
          key, among: given, from: first, conformingTo: narrowing, in: call, by: deadline,
          calledElsewhere: false, begin)
      }
    }
    let nodes = given ?? snapshot(of: key)
    // Its handler delays no other one, and nothing can be decided before it returns.
    let isForCaller = executor == nil && nodes.count == 1 && !nodes[0].hasExecutor
    guard let (question, expire) = begin(nodes) else { return }
    var expiry: Round.Expiry?
    if let deadline, let expire { expiry = Round.Expiry(at: deadline, expire) }
    let round = Round(
      asking: consume nodes, from: first, conformingTo: narrowing, for: self, in: call,
      expiring: expiry, question)
    if let expiry { return await conduct(round, by: expiry) }
    if isForCaller {
      await round.askInCallersTask()
      // If not, it has been given an executor meanwhile, and is asked there.
      if round.isDecided { return }
    }
    let mayRunInPlace = executor == nil || isCalledOnOwnExecutor
    await withTaskCancellationHandler {
      if isForCaller || !round.start(inPlace: mayRunInPlace) { await waitForDecision(of: round) }
    } onCancel: {
      round.cancel(inPlace: true)
    }
  }

  private nonisolated func conduct(_ round: Round, by expiry: Round.Expiry) async {
    if expiry.deadline.isPast { return expiry.count(in: round) }
    await withTaskCancellationHandler {
      // Not in the caller's place: a handler that blocks its thread must not keep the caller.
      round.requestWorker()
      let cancelAlarm = expiry.deadline.schedule { round.noteDeadline() }
      defer { cancelAlarm() }
      await waitForDecision(of: round)
      if round.isDecided { return }
      // By the caller, so that the combiner's last calls have its task-locals and priority.
      expiry.count(in: round)
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
