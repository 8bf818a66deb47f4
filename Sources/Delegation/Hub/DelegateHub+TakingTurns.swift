/// How questions are asked in turn: in the caller's task or, if there is a deadline, in a task for each turn.
extension DelegateHub {
  @inlinable
  @inline(__always)
  nonisolated func askInTurn<P, R: Sendable, E>(
    among audience: Audience<P>, within limits: TurnLimits? = nil,
    absent absence: Absence<R?>? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> R?
  ) async -> Result<R?, E> {
    await inTurn(
      among: audience, in: .askInTurn, within: limits, absent: absence, startingWith: nil
    ) { node, _ in
      guard let subscriber = node.subscriber(in: audience, for: .askInTurn) else {
        return node.absence()
      }
      do throws(E) {
        return .response(try await body(subscriber))
      } catch {
        return node.failure(error, absent: absence, in: .askInTurn)
      }
    }
  }

  @inlinable
  @inline(__always)
  nonisolated func pass<P, V: Sendable, E>(
    _ value: V, among audience: Audience<P>, within limits: TurnLimits? = nil,
    absent absence: Absence<V?>? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (P, V) async throws(E) -> V?
  ) async -> Result<V?, E> {
    await inTurn(
      among: audience, in: .pass, within: limits, absent: absence, startingWith: value
    ) { node, value in
      guard let value, let subscriber = node.subscriber(in: audience, for: .pass) else {
        return node.absence()
      }
      do throws(E) {
        return .response(try await body(subscriber, value))
      } catch {
        return node.failure(error, absent: absence, in: .pass)
      }
    }
  }

  /// Asks subscriptions one after another.
  ///
  /// - Parameters:
  ///   - audience: who is asked.
  ///   - call: the kind of call; `askInTurn` ends with the first answer, `pass` when there is none.
  ///   - limits: the deadlines; `nil` for none.
  ///   - absence: what counts for a late subscriber.
  ///   - value: the initial value.
  ///   - ask: asks one subscriber, with the value so far.
  /// - Returns: the result of the last turn.
  @inlinable
  nonisolated func inTurn<P, Value: Sendable, E>(
    among audience: Audience<P>, in call: CallKind, within limits: TurnLimits?,
    absent absence: Absence<Value?>?, startingWith value: Value?,
    _ ask: @escaping @Sendable (SubscriptionNode, Value?) async -> Answer<Value?, E>
  ) async -> Result<Value?, E> {
    if isCalledOnOtherExecutor {
      return await withTaskExecutorPreference(ownExecutor) { @concurrent in
        await self.inTurn(
          among: audience, in: call, within: limits, absent: absence, startingWith: value, ask)
      }
    }
    // No array of the subscriptions has a name here, so that a suspended handler does not keep all of them.
    var cursor = Cursor(await subscriptions(of: audience.key))
    // Counted before it goes to the hub's executor, which may be busy, and between the turns: a drain has to see it.
    let worker = beginAsking()
    defer { endAsking(worker) }
    // Within interceptors a turn is a question of its own, as one with a deadline is.
    if let limits = limits ?? (surroundings == nil ? nil : unlimitedTurns) {
      // The handlers' questions find it as the handler that awaits them, so a drain in one does not wait for it.
      let context = HandlerContext(worker: worker, call: worker.begin(), node: nil)
      defer { worker.end() }
      return await HandlerContext.binding.withValue(context) {
        await askInTime(
          &cursor, of: audience, in: call, within: limits, absent: absence, startingWith: value, ask
        )
      }
    }
    guard let executor, cursor.unclaimed > 0 else {
      return await askHere(
        &cursor, conformingTo: audience.narrowing, as: worker, in: call, startingWith: value, ask)
    }
    // Entered after the snapshot, because the hub's actor must not be taken there. And concurrent, so that it
    // goes there before the first handler, which may be synchronous.
    return await withTaskExecutorPreference(executor) { @concurrent in
      await self.askHere(
        &cursor, conformingTo: audience.narrowing, as: worker, in: call, startingWith: value, ask)
    }
  }

  /// Asks those that are left in the current task, each that has an executor there.
  @inlinable
  nonisolated func askHere<Value: Sendable, E>(
    _ cursor: inout Cursor, conformingTo narrowing: Narrowing?, as worker: Worker,
    in call: CallKind, startingWith value: Value?,
    _ ask: @escaping @Sendable (SubscriptionNode, Value?) async -> Answer<Value?, E>
  ) async -> Result<Value?, E> {
    var value = value
    while let claim = cursor.claim() {
      if claim.isLast { _ = cursor.release() }
      let present = value
      var answer: Answer<Value?, E>?
      if claim.node.hasExecutor {
        answer = await askElsewhere(claim.node, conformingTo: narrowing, as: worker, in: call) {
          await ask($0, present)
        }
      } else {
        answer = await worker.ask(claim.node, in: call, watchedBy: slowWatch, absence: nil) {
          await ask($0, present)
        }
      }
      if let result = answer?.end(of: call, passing: &value) { return result }
    }
    return .success(value)
  }

  /// Asks those that are left, each within a time.
  @inlinable
  nonisolated func askInTime<P, Value: Sendable, E>(
    _ cursor: inout Cursor, of audience: Audience<P>, in call: CallKind,
    within limits: TurnLimits, absent absence: Absence<Value?>?, startingWith value: Value?,
    _ ask: @escaping @Sendable (SubscriptionNode, Value?) async -> Answer<Value?, E>
  ) async -> Result<Value?, E> {
    var value = value
    while let claim = cursor.claim() {
      if claim.isLast { _ = cursor.release() }
      let (answer, isLast) = await askInTime(
        claim.node, of: audience, in: call, within: limits, absent: absence, at: value, ask)
      let result = answer.end(of: call, passing: &value)
      if let result { return result }
      if isLast { break }
    }
    return .success(value)
  }

  /// Asks one subscriber, within a time: a question of its own, among one.
  ///
  /// - Returns: its answer, and whether the deadline of the whole call has come before it.
  @inlinable
  nonisolated func askInTime<P, Value: Sendable, E>(
    _ node: SubscriptionNode, of audience: Audience<P>, in call: CallKind,
    within limits: TurnLimits, absent absence: Absence<Value?>?, at value: Value?,
    _ ask: @escaping @Sendable (SubscriptionNode, Value?) async -> Answer<Value?, E>
  ) async -> (Answer<Value?, E>, isLast: Bool) {
    let absent: Answer<Value?, E> = absence?.answer() ?? .absence
    if limits.isOver() {
      guard node.isReached(as: audience.narrowing, endingIn: call) else { return (.absence, false) }
      // Only the one whose turn it was is late.
      if !limits.isZero { node.noteLate(in: call) }
      return (absent, true)
    }
    // `nil` for one that is late, or that an interceptor keeps from answering; no outcome for one that was not asked.
    let rule = First<Answer<Value?, E>?, Answer<Value?, E>?>.first()
    let asking = AskingByClosure<Answer<Value?, E>?, Never>(late: .substitute(nil)) {
      .response(await ask($0, value))
    }
    guard
      let turn = await decide(
        audience, among: [node], by: rule, in: call, within: limits.deadline(), asking
      ).get()
    else { return (.absence, false) }
    return turn.map { ($0, false) } ?? (absent, limits.isOver())
  }

  /// The deadlines of a question that is asked in turn; `nil` if it has none.
  @usableFromInline
  nonisolated func limits(_ duration: Duration?, each: Duration?) -> TurnLimits? {
    if duration == nil, each == nil { return nil }
    return TurnLimits(whole: deadline(within: duration), each: each, source: deadlines)
  }

  /// Limits without a deadline, if the hub has interceptors.
  @usableFromInline
  nonisolated var unlimitedTurns: TurnLimits? {
    surroundings?.interception.map { _ in TurnLimits(whole: nil, each: nil, source: deadlines) }
  }

  /// Asks a subscription on its own executor.
  @usableFromInline
  nonisolated func askElsewhere<Result: Sendable>(
    _ node: SubscriptionNode, conformingTo narrowing: Narrowing?, as worker: Worker,
    in call: CallKind,
    _ ask: @escaping @Sendable (SubscriptionNode) async -> Result?
  ) async -> Result? {
    // The executor of one that has ended or died, or does not conform, may be busy, suspended or gone.
    guard let executor = node.executor, node.isReached(as: narrowing, endingIn: call) else {
      return nil
    }
    let slowWatch = slowWatch
    let isShallow = worker.caller?.isShallow ?? true
    return await Task.runAttached(on: executor, cancelledInPlace: isShallow) {
      await worker.ask(node, in: call, watchedBy: slowWatch, absence: nil, ask)
    }
  }
}

extension Answer {
  /// The outcome of a question that is asked in turn, if this answer ends it.
  ///
  /// - Parameters:
  ///   - call: the kind of call; `askInTurn` ends with the first answer, `pass` when there is none.
  ///   - value: the value of the next turn, if there is one.
  /// - Returns: the outcome.
  @inlinable
  func end<Value>(
    of call: CallKind, passing value: inout Value?
  ) -> Result<Value?, Failure>? where Response == Value? {
    switch self {
    case .response(let next), .substitute(let next):
      if (next == nil) == (call == .pass) { return .success(next) }
      value = next
      return nil
    case .absence: return nil
    case .failure(let error): return .failure(error)
    }
  }
}

/// The deadlines of a question that is asked in turn.
@usableFromInline
struct TurnLimits: Sendable {
  let whole: Deadline?
  @usableFromInline
  let each: Duration?
  let source: DeadlineQueue

  /// Whether the time of the whole question was zero.
  @usableFromInline
  var isZero: Bool { whole?.isPast ?? false }

  /// Whether the time of the whole question is over.
  @usableFromInline
  func isOver() -> Bool { whole?.hasCome ?? false }

  /// The deadline of a turn that begins now.
  @usableFromInline
  func deadline() -> Deadline? {
    let turn = each.flatMap(source.deadline(after:))
    guard var whole else { return turn }
    whole.start = turn?.start ?? source.now()
    return turn.map(whole.orEarlier) ?? whole
  }
}
