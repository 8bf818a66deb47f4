/// How questions are asked in turn: in the caller's task, or on the subscriber's own executor.
///
/// With a deadline, or within interceptors, each turn is a question of its own, which is asked as those side by side.
extension DelegateHub {
  @_alwaysEmitIntoClient
  @inline(__always)
  nonisolated func askInTurn<P, R: Sendable, E>(
    _ audience: Audience<P>, within duration: Duration? = nil, each: Duration? = nil,
    absent absence: Absence<R?>? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> R?
  ) async -> Result<R?, E> {
    let asking = AskingForResponse(audience, in: .askInTurn, absent: absence, body)
    return await inTurn(
      audience, in: .askInTurn, by: deadline(within: duration), each: each, absent: absence,
      startingWith: nil
    ) { node, _, round in await asking.answer(of: node, in: round) }
  }

  /// Asks with a closure that awaits nothing, on its actor if it belongs to one.
  @_alwaysEmitIntoClient
  nonisolated func askInTurn<P, R: Sendable, E>(
    _ audience: Audience<P>, within duration: Duration? = nil, each: Duration? = nil,
    absent absence: Absence<R?>? = nil,
    isolated body: @escaping @isolated(any) @Sendable (P) throws(E) -> R?
  ) async -> Result<R?, E> {
    let asking = AskingInPlace(audience, in: .askInTurn, absent: absence, isolated: body)
    return await inTurn(
      audience, in: .askInTurn, by: deadline(within: duration), each: each, absent: absence,
      startingWith: nil
    ) { node, _, round in await asking.answer(of: node, in: round) }
  }

  @_alwaysEmitIntoClient
  nonisolated func pass<P, V: Sendable, E>(
    _ value: V, _ audience: Audience<P>, within duration: Duration? = nil, each: Duration? = nil,
    absent absence: Absence<V?>? = nil,
    isolated body: @escaping @isolated(any) @Sendable (P, V) throws(E) -> V?
  ) async -> Result<V?, E> {
    let (place, body) = (body.isolation, unisolated(body))
    return await inTurn(
      audience, in: .pass, by: deadline(within: duration), each: each, absent: absence,
      startingWith: value
    ) { node, value, round in
      guard let value else { return node.absence() }
      let asking = AskingInPlace(audience, in: .pass, absent: absence, on: place) {
        subscriber throws(E) in try body(subscriber, value)
      }
      return await asking.answer(of: node, in: round)
    }
  }

  @_alwaysEmitIntoClient
  @inline(__always)
  nonisolated func pass<P, V: Sendable, E>(
    _ value: V, _ audience: Audience<P>, within duration: Duration? = nil, each: Duration? = nil,
    absent absence: Absence<V?>? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (P, V) async throws(E) -> V?
  ) async -> Result<V?, E> {
    await inTurn(
      audience, in: .pass, by: deadline(within: duration), each: each, absent: absence,
      startingWith: value
    ) { node, value, _ in
      guard let value, let subscriber = node.subscriber(in: audience, for: .pass) else {
        return node.absence()
      }
      do throws(E) {
        return .response(try await body(subscriber, value))
      } catch {
        return node.failure(error, absent: absence)
      }
    }
  }

  /// Asks subscriptions one after another.
  ///
  /// - Parameters:
  ///   - audience: who is asked.
  ///   - call: the kind of call; `askInTurn` ends with the first answer, `pass` when there is none.
  ///   - whole: the deadline of the whole question; `nil` for none.
  ///   - each: the time for each turn; `nil` for as long as it takes.
  ///   - absence: what counts for a late subscriber.
  ///   - value: the initial value.
  ///   - ask: asks one subscriber, with the value so far.
  /// - Returns: the result of the last turn.
  @_alwaysEmitIntoClient
  nonisolated func inTurn<P, Value: Sendable, E>(
    _ audience: Audience<P>, in call: CallKind, by whole: Deadline?, each: Duration?,
    absent absence: Absence<Value?>?, startingWith value: Value?,
    _ ask: @escaping @Sendable (SubscriptionNode, Value?, Round?) async -> Answer<Value?, E>
  ) async -> Result<Value?, E> {
    if isCalledOnOtherExecutor {
      return await withTaskExecutorPreference(ownExecutor) { @concurrent in
        await self.inTurn(
          audience, in: call, by: whole, each: each, absent: absence, startingWith: value,
          ask)
      }
    }
    // No array of the subscriptions has a name here, so that a suspended handler does not keep all of them.
    var cursor = Cursor(snapshot(of: audience.key))
    // Counted before it goes to the hub's executor, which may be busy, and between the turns: a drain has to see it.
    let worker = beginAsking()
    defer { endAsking(worker) }
    // Within interceptors a turn is a question of its own, as one with a deadline is.
    let isApart = whole != nil || each != nil || interception != nil
    guard let executor, !isApart, cursor.unclaimed > 0 else {
      return await takeTurns(
        &cursor, apart: isApart, of: audience, as: worker, in: call, by: whole, each: each,
        absent: absence, startingWith: value, ask)
    }
    // Entered after the snapshot, which is of the moment of the call, however busy the executor is. And concurrent,
    // so that it goes there before the first handler, which may be synchronous.
    return await withTaskExecutorPreference(executor) { @concurrent in
      await self.takeTurns(
        &cursor, apart: false, of: audience, as: worker, in: call, by: nil, each: nil,
        absent: absence, startingWith: value, ask)
    }
  }

  /// Asks those that are left: in the current task, or in a question of its own each that has a time or an executor.
  @_alwaysEmitIntoClient
  nonisolated func takeTurns<P, Value: Sendable, E>(
    _ cursor: inout Cursor, apart isApart: Bool, of audience: Audience<P>, as worker: Worker,
    in call: CallKind, by whole: Deadline?, each: Duration?, absent absence: Absence<Value?>?,
    startingWith value: Value?,
    _ ask: @escaping @Sendable (SubscriptionNode, Value?, Round?) async -> Answer<Value?, E>
  ) async -> Result<Value?, E> {
    var value = value
    while let claim = cursor.claim() {
      if claim.isLast { _ = cursor.release() }
      let present = value
      var answer = Answer<Value?, E>.absence
      var isLast = claim.isLast
      if isApart || claim.node.hasExecutor {
        (answer, isLast) = await askApart(
          claim.node, of: audience, as: worker, in: call, by: whole, each: each, absent: absence
        ) { await ask($0, present, $1) }
      } else {
        answer = await worker.ask(claim.node, in: call, absence: .absence) {
          await ask($0, present, nil)
        }
      }
      switch answer {
      case .response(let next), .substitute(let next):
        if (next == nil) == (call == .pass) { return .success(next) }
        value = next
      case .absence: break
      case .failure(let error): return .failure(error)
      }
      if isLast { break }
    }
    return .success(value)
  }

  /// Asks one subscriber in a question of its own, among one: within a time, or on its own executor.
  ///
  /// - Returns: its answer, and whether it is the last one, because the deadline of the whole call has come before it.
  @_alwaysEmitIntoClient
  nonisolated func askApart<P, Value: Sendable, E>(
    _ node: SubscriptionNode, of audience: Audience<P>, as worker: Worker, in call: CallKind,
    by whole: Deadline?, each: Duration?, absent absence: Absence<Value?>?,
    _ ask: @escaping @Sendable (SubscriptionNode, Round?) async -> Answer<Value?, E>
  ) async -> (Answer<Value?, E>, isLast: Bool) {
    let absent: Answer<Value?, E> = absence?.answer() ?? .absence
    if let whole, whole.hasCome {
      guard node.isReached(by: audience.admits, endingIn: call) else { return (.absence, false) }
      // Only the one whose turn it was is late.
      if !whole.isPast { node.noteLate(in: call) }
      return (absent, true)
    }
    // `nil` for one that is late, or that an interceptor keeps from answering; no outcome for one that was not asked.
    let rule = First<Answer<Value?, E>?, Answer<Value?, E>?>.first()
    let asking = AskingByClosure<Answer<Value?, E>?, Never>(late: .substitute(nil)) {
      .response(await ask($0, $1))
    }
    let deadline = deadline(by: whole, each: each)
    // The handler's questions find it as the handler that awaits them, so a drain in one does not wait for it.
    let context = HandlerContext(worker: worker, call: worker.begin(), node: nil)
    defer { worker.end() }
    let turn = await HandlerContext.binding.withValue(context) {
      await decide(audience, among: [node], by: rule, in: call, within: deadline, asking).get()
    }
    guard let turn else { return (.absence, false) }
    return turn.map { ($0, false) } ?? (absent, whole?.hasCome ?? false)
  }

  /// The deadline of a turn that begins now, before the one of the whole question has come.
  @usableFromInline
  nonisolated func deadline(by whole: Deadline?, each: Duration?) -> Deadline? {
    let left = whole.map { max($0.time - deadlines.now(), .nanoseconds(1)) } ?? Deadline.farthest
    return deadlines.deadline(after: min(left, each ?? left))
  }
}
