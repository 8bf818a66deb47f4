/// How questions are asked: side by side by a ``TalliedQuestion``, or, if they await nothing, in a loop.
extension DelegateHub {
  /// Asks a protocol's subscribers side by side, and decides by what they answer.
  ///
  /// `given` are the subscriptions to ask; `nil` for the protocol's present ones.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated func decide<C: Combiner, E>(
    _ asking: some Asking<C.Response, E>, among given: [SubscriptionNode]? = nil, by combiner: C,
    within duration: Duration? = nil
  ) async -> Result<C.Outcome, E> {
    // `duration` is tested here, in inlined code: clients that pass none have no code for deadlines.
    let deadline = duration == nil ? nil : deadline(within: duration)
    let nodes = given ?? snapshot(of: asking.recipients.base)
    var tally = Tally<C, E>(asking: nodes.count, combiner: combiner, hasDeadline: deadline != nil)
    if let decision = tally.begin() {
      noteShortage(
        of: tally.combiner, among: nodes.count, of: asking.recipients.base, in: asking.call)
      return decision
    }
    // Whether the caller is already counted as a worker when the question begins: a `drain` must not find the hub idle
    // before.
    var isCallerCounted = false
    // A single subscriber's handler delays no other handler, and nothing is decided before it returns: so the caller's
    // task runs it.
    if deadline == nil, core.mayAskInLoop, nodes.count == 1, !nodes[0].hasExecutor {
      let worker = beginAsking()
      let answer = await worker.ask(nodes[0], in: asking.call, absence: .absence) {
        await asking.answer(of: $0, in: nil)
      }
      if !worker.mustAskElsewhere {
        let decision = tally.count(answer, from: 0) ?? tally.finish()
        endAsking(worker)
        return decision
      }
      isCallerCounted = true
    }
    return await conduct(
      asking, among: nodes, counting: tally, within: deadline, isCallerCounted: isCallerCounted)
  }

  /// Asks subscriptions side by side, and counts their answers.
  ///
  /// `first` is the position of the first subscription to ask. The combiner of `tally` has begun, and has not decided.
  /// `isCallerCounted` says whether the caller is already counted as a worker, which it is not with a deadline.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated func conduct<C: Combiner, E>(
    _ asking: some Asking<C.Response, E>, among nodes: [SubscriptionNode], from first: Int = 0,
    counting tally: Tally<C, E>, within deadline: Deadline? = nil, isCallerCounted: Bool
  ) async -> Result<C.Outcome, E> {
    var late: (@Sendable (SubscriptionNode?) -> Answer<C.Response, E>)?
    if deadline != nil {
      late = { [late = asking.late] node in node.flatMap { late?($0) } ?? .absence }
    }
    let question = TalliedQuestion(
      tally, of: nodes, from: first, admittedBy: asking.recipients.admits, in: core, asking.call,
      until: deadline, late: late
    ) { question, worker, first in
      // The question calls this closure with itself, so `question` has the type of the one made here.
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
    if !question.begin(isCallerCounted: isCallerCounted) { await question.awaitDecision() }
    return question.takeDecision()
  }

  /// Reports as *tooFew* a rule that decided before anybody was asked, if it needs more answers than there are
  /// subscribers.
  @usableFromInline
  nonisolated func noteShortage<C: Combiner>(
    of combiner: C?, among count: Int, of type: Any.Type, in call: CallKind
  ) {
    let needed = (combiner as? BooleanRule)?.shortage(among: count) ?? 0
    guard needed > 0 else { return }
    core.topics.find(type, owner: core).reportShortage(of: needed, among: count, in: call)
  }

  /// Counts the current task as a worker that asks.
  ///
  /// - Returns: the worker, for ``endAsking(_:)``.
  @usableFromInline
  nonisolated func beginAsking() -> Worker {
    core.countWorker()
    return Worker(for: core.number, caller: Caller.present)
  }

  /// Counts off the worker of ``beginAsking()``.
  @usableFromInline
  nonisolated func endAsking(_ worker: Worker) {
    worker.caller?.clear()
    core.uncountWorker()
  }
}

extension Result {
  /// The outcome of a question that cannot fail, because an error counts as `absent:` says, or is a reply.
  @inlinable
  var outcome: Success {
    guard case .success(let outcome) = self else {
      fatalError("Delegation: a question failed that counts failures as absent")
    }
    return outcome
  }
}

/// Questions that await nothing: the caller's task asks one subscriber after another, in a plain loop.
///
/// A closure of an actor has forms of the calls of its own: their `P` is sendable, so the compiler can tell the forms
/// apart. For such a closure, a ``Question`` asks, on the actor.
extension DelegateHub {
  /// Asks a protocol's subscribers in a loop; from the first on that has an executor or was replaced, side by side.
  ///
  /// Asks all side by side if the closure belongs to an actor, or the hub has an executor or interceptors.
  @_alwaysEmitIntoClient @inline(never)
  nonisolated func askInLoop<P, C: Combiner, E>(
    _ asking: AskingInLoop<P, C.Response, E>, by combiner: C
  ) async throws(E) -> C.Outcome {
    let nodes = snapshot(of: asking.recipients.base)
    var combiner = combiner
    // With nobody to ask, the combiner finishes here: no answer will come that could finish it.
    let outcome = combiner.begin(asking: nodes.count)
    if let outcome = outcome ?? (nodes.isEmpty ? combiner.finish() : nil) {
      noteShortage(of: combiner, among: nodes.count, of: asking.recipients.base, in: asking.call)
      return outcome
    }
    // The caller is counted as a worker until a question takes over the count: no `drain` may find the hub idle.
    core.countWorker()
    var position = 0
    if core.mayAskInLoop, asking.actor == nil,
      let decision = asking.ask(nodes, from: &position, counting: &combiner)
    {
      core.uncountWorker()
      return try decision.get()
    }
    return try await askRest(of: nodes, from: position, asking, by: combiner).get()
  }

  /// Asks the subscriptions from a position on side by side; seldom needed, so not inlined into clients.
  @usableFromInline
  nonisolated func askRest<P, C: Combiner, E>(
    of nodes: [SubscriptionNode], from first: Int, _ asking: AskingInLoop<P, C.Response, E>,
    by combiner: C
  ) async -> Result<C.Outcome, E> {
    let tally = Tally<C, E>(asking: nodes.count - first, combiner: combiner)
    return await conduct(asking, among: nodes, from: first, counting: tally, isCallerCounted: true)
  }

  /// Decides as `decide` does, but is not inlined into clients.
  @usableFromInline
  nonisolated func decideOutOfLine<C: Combiner, E>(
    _ asking: some Asking<C.Response, E>, among given: [SubscriptionNode]? = nil, by combiner: C,
    within duration: Duration?
  ) async -> Result<C.Outcome, E> {
    await decide(asking, among: given, by: combiner, within: duration)
  }
}

/// How questions are asked in turn, by `askInTurn` and `pass`: in the caller's task.
///
/// With a deadline or interceptors, or an executor of the hub or the subscription, a turn is a ``Question`` of its own.
extension DelegateHub {
  /// Asks subscriptions one after another.
  ///
  /// - Parameters:
  ///   - recipients: whom the call is for.
  ///   - call: the kind of call; `askInTurn` ends at the first answer that is not `nil`, `pass` at the first `nil`.
  ///   - duration: the time for the whole question; `nil` for no limit.
  ///   - each: the time for each turn; `nil` for no limit.
  ///   - value: the initial value, only for `pass`.
  ///   - turn: gets the value so far, and makes what asks one subscriber.
  /// - Returns: the result of the last turn.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated func inTurn<P, Value: Sendable, E>(
    _ recipients: Recipients<P>, in call: CallKind, within duration: Duration? = nil,
    each: Duration? = nil, startingWith value: Value? = nil,
    _ turn: (Value?) -> some Asking<Value?, E>
  ) async -> Result<Value?, E> {
    let whole = deadline(within: duration)
    // No variable here names the array of subscriptions, so that a suspended handler does not keep all of them alive.
    var work = WorkQueue(snapshot(of: recipients.base))
    // The caller stays counted as a worker between the turns: no `drain` may find the hub idle.
    let worker = beginAsking()
    defer { endAsking(worker) }
    let needsQuestion = !core.mayAskInLoop || whole != nil || each != nil
    var value = value
    while let claim = work.claim() {
      if claim.isLast { _ = work.release() }
      let asking = turn(value)
      var answer = Answer<Value?, E>.absence
      let isElsewhere = needsQuestion || claim.node.hasExecutor
      if !isElsewhere {
        answer = await worker.ask(claim.node, in: call, absence: .absence) {
          await asking.answer(of: $0, in: nil)
        }
      }
      if isElsewhere || worker.mustAskElsewhere {
        answer = await takeTurn(
          of: claim.node, before: &work, as: worker, within: whole, each: each, asking)
      }
      switch answer {
      case .response(let next), .substitute(let next):
        if (next == nil) == (call == .pass) { return .success(next) }
        value = next
      case .absence: break
      case .failure(let error): return .failure(error)
      }
    }
    return .success(value)
  }

  /// Takes one turn of a call in turn by a ``Question`` to one subscriber.
  ///
  /// Once the deadline of the whole call has come, asks nobody, and returns what counts for the first remaining
  /// subscriber that is late: that is alive and conforms.
  @usableFromInline
  nonisolated func takeTurn<Value: Sendable, E>(
    of node: SubscriptionNode, before rest: inout WorkQueue, as worker: Worker,
    within whole: Deadline?, each: Duration?, _ asking: some Asking<Value?, E>
  ) async -> Answer<Value?, E> {
    let left = whole.map { $0.isPast ? .zero : $0.time - core.deadlines.now() }
    if let left, left <= .zero {
      let nodes = [node] + rest.release().dropFirst(rest.next)
      let late = nodes.first {
        ($0.replacement ?? $0).isLate(
          admittedBy: asking.recipients.admits, in: asking.call, notingSince: nil, if: [])
      }
      return late.flatMap { asking.late?($0) } ?? .absence
    }
    // The turn's question finds this context as its caller, so a drain in the handler does not wait for the turn.
    let context = HandlerContext(worker: worker, call: worker.begin(), node: nil)
    defer { worker.end() }
    let turn = await HandlerContext.binding.withValue(context) {
      await decideOutOfLine(
        asking, among: [node], by: First<Value?, Value?>.first(),
        within: left.map { min($0, each ?? $0) } ?? each)
    }
    switch turn {
    case .success(let value): return value.map(Answer.response) ?? .absence
    case .failure(let error): return .failure(error)
    }
  }
}
