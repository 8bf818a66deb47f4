/// How questions are asked in turn: in the caller's task, or on the subscriber's own executor.
///
/// With a deadline, or within interceptors, each turn is a question of its own, which is asked as those side by side.
extension DelegateHub {
  /// Asks subscriptions one after another.
  ///
  /// - Parameters:
  ///   - recipients: who is asked.
  ///   - call: the kind of call; `askInTurn` ends with the first answer, `pass` when there is none.
  ///   - duration: the time for the whole question; `nil` for as long as it takes.
  ///   - each: the time for each turn; `nil` for as long as it takes.
  ///   - value: the initial value.
  ///   - turn: what asks one subscriber, with the value so far, which `pass` always has.
  /// - Returns: the result of the last turn.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated func inTurn<P, Value: Sendable, E>(
    _ recipients: Recipients<P>, in call: CallKind, within duration: Duration? = nil,
    each: Duration? = nil, startingWith value: Value? = nil,
    _ turn: (Value?) -> some Asking<Value?, E>
  ) async -> Result<Value?, E> {
    let whole = deadline(within: duration)
    // No array of the subscriptions has a name here, so that a suspended handler does not keep all of them.
    var work = WorkQueue(snapshot(of: recipients.key))
    // Counted between the turns as well: a drain has to see it.
    let worker = beginAsking()
    defer { endAsking(worker) }
    let isApart = !core.mayAskInPlace || whole != nil || each != nil
    var value = value
    while let claim = work.claim() {
      if claim.isLast { _ = work.release() }
      let asking = turn(value)
      var answer = Answer<Value?, E>.absence
      // Read once: the handler may give its subscription an executor.
      let isElsewhere = isApart || claim.node.hasExecutor
      if !isElsewhere {
        answer = await worker.ask(claim.node, in: call, absence: .absence) {
          await asking.answer(of: $0, in: nil)
        }
      }
      if isElsewhere || worker.hasHeir {
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

  /// Asks one subscriber in a question of its own: within a time or interceptors, or on an executor.
  ///
  /// Once the time for all is over it asks nobody, and takes what counts for one that is left as that of all.
  @usableFromInline
  nonisolated func takeTurn<Value: Sendable, E>(
    of node: SubscriptionNode, before rest: inout WorkQueue, as worker: Worker,
    within whole: Deadline?, each: Duration?, _ asking: some Asking<Value?, E>
  ) async -> Answer<Value?, E> {
    let left = whole.map { $0.isPast ? .zero : $0.time - core.deadlines.now() }
    if let left, left <= .zero {
      let nodes = [node] + rest.release().dropFirst(rest.next)
      let late = nodes.first {
        ($0.heir ?? $0).isLate(
          admittedBy: asking.recipients.admits, in: asking.call, notingSince: nil, if: [])
      }
      return late.flatMap { asking.late?($0) } ?? .absence
    }
    // The handler's questions find this one as the handler that awaits them, so a drain in one does not wait for it.
    let context = HandlerContext(worker: worker, call: worker.begin(), node: nil)
    defer { worker.end() }
    let turn = await HandlerContext.binding.withValue(context) {
      await decideApart(
        asking, among: [node], by: First<Value?, Value?>.first(),
        within: left.map { min($0, each ?? $0) } ?? each)
    }
    switch turn {
    case .success(let value): return value.map(Answer.response) ?? .absence
    case .failure(let error): return .failure(error)
    }
  }
}
