/// How questions are asked: side by side by a ``TalliedQuestion``, or below, if they await nothing, in a loop.
///
/// A single subscriber that needs neither executor nor deadline nor interceptors is asked in the caller's task.
extension DelegateHub {
  /// Asks subscribers side by side, and decides by what they answer.
  ///
  /// - Parameters:
  ///   - asking: asks one subscriber.
  ///   - given: the subscriptions, if they are known; otherwise the present ones.
  ///   - combiner: combines the answers.
  ///   - duration: the time for the decision; `nil` for as long as it takes.
  /// - Returns: the decision.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated func decide<C: Combiner, E>(
    _ asking: some Asking<C.Response, E>, among given: [SubscriptionNode]? = nil, by combiner: C,
    within duration: Duration? = nil
  ) async -> Result<C.Outcome, E> {
    let deadline = duration == nil ? nil : deadline(within: duration)
    let nodes = given ?? snapshot(of: asking.recipients.key)
    var tally = Tally<C, E>(
      asking: nodes.count, combiner: combiner, hasDeadline: deadline != nil)
    if let decision = tally.begin() {
      noteShortage(
        of: tally.combiner, among: nodes.count, of: asking.recipients.base, in: asking.call)
      return decision
    }
    // Until the question is: a drain has to see what is between the two as well.
    var isCounted = false
    // After the combiner, which is the user's and may have given it an executor. The handler of a single one delays no
    // other, and nothing can be decided before it returns.
    if deadline == nil, core.mayAskInPlace, nodes.count == 1, !nodes[0].hasExecutor {
      let worker = beginAsking()
      let answer = await worker.ask(nodes[0], in: asking.call, absence: .absence) {
        await asking.answer(of: $0, in: nil)
      }
      if !worker.hasHeir {
        let decision = tally.count(answer, from: 0) ?? tally.finish()
        endAsking(worker)
        return decision
      }
      isCounted = true
    }
    return await conduct(
      asking, among: nodes, counting: tally, within: deadline, isCounted: isCounted)
  }

  /// Asks subscriptions side by side, and counts their answers.
  ///
  /// - Parameters:
  ///   - asking: asks one subscriber.
  ///   - nodes: the subscriptions.
  ///   - first: the position of the first that is asked.
  ///   - tally: counts the answers; it has begun, and has not decided.
  ///   - deadline: the deadline of the decision; `nil` for none.
  ///   - isCounted: whether the caller is counted as long as nobody is asked; only without a deadline.
  /// - Returns: the decision.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated func conduct<C: Combiner, E>(
    _ asking: some Asking<C.Response, E>, among nodes: [SubscriptionNode], from first: Int = 0,
    counting tally: Tally<C, E>, within deadline: Deadline? = nil, isCounted: Bool
  ) async -> Result<C.Outcome, E> {
    var late: (@Sendable (SubscriptionNode?) -> Answer<C.Response, E>)?
    if deadline != nil {
      late = { [late = asking.late] node in node.flatMap { late?($0) } ?? .absence }
    }
    let question = TalliedQuestion(
      tally, of: nodes, from: first, admittedBy: asking.recipients.admits, in: core, asking.call,
      until: deadline, late: late
    ) { question, worker, first in
      // It is called with this question, and so has that type.
      let question = unsafeDowncast(question, to: TalliedQuestion<Tally<C, E>>.self)
      if let interception = question.core.interception {
        return await question.run(from: first, as: worker, within: interception, asking)
      }
      return await question.run(from: first, as: worker) { answer, claim in
        question.take(answer, from: claim, by: worker)
      } asking: { node in
        await asking.answer(of: node, in: question)
      }
    }
    if !question.begin(isCounted: isCounted) { await question.finish() }
    return TalliedQuestion.takeDecision(of: question)
  }

  /// Reports a rule that has decided before anybody is asked, if it needs more answers than there are subscribers.
  @usableFromInline
  nonisolated func noteShortage<C: Combiner>(
    of combiner: C?, among count: Int, of type: Any.Type, in call: CallKind
  ) {
    let needed = (combiner as? BooleanRule)?.shortage(among: count) ?? 0
    if needed > 0 {
      core.topics.find(type, owner: core).reportShortage(of: needed, among: count, in: call)
    }
  }

  /// Counts the current task as a worker that asks.
  ///
  /// - Returns: the worker, for ``endAsking(_:)``.
  @usableFromInline
  nonisolated func beginAsking() -> Worker {
    core.begin()
    return Worker(for: core.number, caller: Caller.present)
  }

  /// Counts off the current task, which asks nobody any more.
  @usableFromInline
  nonisolated func endAsking(_ worker: Worker) {
    worker.caller?.clear()
    core.end()
  }
}

extension Result {
  /// The outcome of a question that does not fail: it counts what is thrown as absent.
  @inlinable
  var outcome: Success {
    guard case .success(let outcome) = self else {
      fatalError("Delegation: a question failed that counts failures as absent")
    }
    return outcome
  }
}

/// Questions that await nothing: they are asked in the caller's task, one after another, in a plain loop.
///
/// Closures that belong to an actor, as those that say `@MainActor`, have forms of their own, with `P: Sendable`: by that
/// the compiler tells them from the plain ones. They are asked side by side, on the actor.
extension DelegateHub {
  /// Asks in a loop, up to the first subscriber that needs more than that.
  @_alwaysEmitIntoClient @inline(never)
  nonisolated func askInPlace<P, C: Combiner, E>(
    _ asking: AskingInPlace<P, C.Response, E>, by combiner: C
  ) async throws(E) -> C.Outcome {
    let nodes = snapshot(of: asking.recipients.key)
    var combiner = combiner
    // With nobody to ask, nobody will come to count the answers.
    let outcome = combiner.begin(asking: nodes.count)
    if let outcome = outcome ?? (nodes.isEmpty ? combiner.finish() : nil) {
      noteShortage(of: combiner, among: nodes.count, of: asking.recipients.base, in: asking.call)
      return outcome
    }
    // Counted until it is decided, or until the question is: a drain has to see what is between the two as well.
    core.begin()
    var position = 0
    if core.mayAskInPlace && asking.place == nil {
      let decision = asking.ask(nodes, from: &position, counting: &combiner)
      if let decision {
        core.end()
        return try decision.get()
      }
    }
    return try await askRest(of: nodes, from: position, asking, by: combiner).get()
  }

  /// Asks side by side, from the first subscriber on that needs more than a loop; clients do not carry its code, for it
  /// is seldom needed.
  @usableFromInline
  nonisolated func askRest<P, C: Combiner, E>(
    of nodes: [SubscriptionNode], from first: Int, _ asking: AskingInPlace<P, C.Response, E>,
    by combiner: C
  ) async -> Result<C.Outcome, E> {
    let tally = Tally<C, E>(asking: nodes.count - first, combiner: combiner)
    return await conduct(asking, among: nodes, from: first, counting: tally, isCounted: true)
  }

  /// Asks side by side from the start; clients do not carry its code.
  @usableFromInline
  nonisolated func decideApart<C: Combiner, E>(
    _ asking: some Asking<C.Response, E>, among given: [SubscriptionNode]? = nil, by combiner: C,
    within duration: Duration?
  ) async -> Result<C.Outcome, E> {
    await decide(asking, among: given, by: combiner, within: duration)
  }
}
