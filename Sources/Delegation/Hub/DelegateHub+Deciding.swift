/// How questions are asked side by side: by a ``TalliedQuestion``.
///
/// A single subscriber that needs neither is asked in the caller's task.
extension DelegateHub {
  /// The only subscription among those of a protocol, if it can be asked in the caller's task: then no question is
  /// needed, for its handler delays no other one, and nothing can be decided before it returns.
  @usableFromInline
  nonisolated func soleSubscription(of nodes: [SubscriptionNode]) -> SubscriptionNode? {
    core.mayAskInPlace && nodes.count == 1 && !nodes[0].hasExecutor ? nodes[0] : nil
  }

  /// Asks the subscribers of an recipients side by side, and decides by what they answer.
  ///
  /// - Parameters:
  ///   - recipients: who is asked.
  ///   - given: their subscriptions, if they are known; otherwise the present ones.
  ///   - combiner: combines the answers.
  ///   - call: the kind of call.
  ///   - deadline: the deadline of the decision; `nil` for none.
  ///   - asking: asks one subscriber.
  /// - Returns: the decision.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated func decide<P, C: Combiner, E>(
    _ recipients: Recipients<P>, among given: [SubscriptionNode]? = nil, by combiner: C,
    in call: CallKind, within deadline: Deadline? = nil, _ asking: some Asking<C.Response, E>
  ) async -> Result<C.Outcome, E> {
    let nodes = given ?? snapshot(of: recipients.key)
    var tally = Tally<C, E>(
      asking: nodes.count, combiner: combiner, hasDeadline: deadline != nil)
    if let decision = tally.begin() {
      noteShortage(of: tally.combiner, among: nodes.count, of: recipients.base, in: call)
      return decision
    }
    // Until the question is: a drain has to see what is between the two as well.
    var isCounted = false
    // After the combiner, which is the user's and may have given it an executor.
    if deadline == nil, let node = soleSubscription(of: nodes) {
      let worker = beginAsking()
      let answer = await worker.ask(node, in: call, absence: .absence) {
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
      asking, in: call, of: recipients, among: nodes, counting: tally, within: deadline,
      isCounted: isCounted)
  }

  /// Asks subscriptions side by side, and counts their answers.
  ///
  /// - Parameters:
  ///   - asking: asks one subscriber.
  ///   - call: the kind of call.
  ///   - recipients: who is asked.
  ///   - nodes: their subscriptions.
  ///   - first: the position of the first that is asked.
  ///   - tally: counts the answers; it has begun, and has not decided.
  ///   - deadline: the deadline of the decision; `nil` for none.
  ///   - isCounted: whether the caller is counted as long as nobody is asked; only without a deadline.
  /// - Returns: the decision.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated func conduct<P, C: Combiner, E>(
    _ asking: some Asking<C.Response, E>, in call: CallKind, of recipients: Recipients<P>,
    among nodes: [SubscriptionNode], from first: Int = 0, counting tally: Tally<C, E>,
    within deadline: Deadline? = nil, isCounted: Bool
  ) async -> Result<C.Outcome, E> {
    // What is called with a question is called with this one: so it has the type that it is cast to.
    let question = TalliedQuestion(
      tally, of: nodes, from: first, admittedBy: recipients.admits, in: core, call,
      expiring: deadline.map { [nodes] in
        .init(at: $0) { [late = asking.late, admits = recipients.admits] question, start, asked in
          unsafeDowncast(question, to: TalliedQuestion<Tally<C, E>>.self).expire { position in
            let node = nodes[position].heir ?? nodes[position]
            let isLate = node.isLate(admittedBy: admits, in: call, notingSince: start, if: asked)
            return isLate ? late(node) : .absence
          }
        }
      }
    ) { question, worker, first in
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
    await conduct(
      asking, in: asking.call, of: asking.recipients, among: nodes, from: first,
      counting: Tally<C, E>(asking: nodes.count - first, combiner: combiner), isCounted: true)
  }

  /// Asks side by side from the start; clients do not carry its code.
  @usableFromInline
  nonisolated func decideApart<P, C: Combiner, E>(
    _ recipients: Recipients<P>, by combiner: C, in call: CallKind, within duration: Duration?,
    _ asking: some Asking<C.Response, E>
  ) async -> Result<C.Outcome, E> {
    await decide(
      recipients, by: combiner, in: call, within: deadline(within: duration), asking)
  }
}
