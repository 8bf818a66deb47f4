extension DelegateHub {
  /// Asks every subscriber of a protocol for a yes or no, side by side, and combines the answers.
  ///
  /// Returns as soon as the outcome is fixed. Handlers that still run are then cancelled and not
  /// waited for, and handlers that have not begun are not called.
  ///
  /// **Order.** Subscribers are asked by priority, then in order of subscription; they answer in
  /// any order. Handlers that suspend overlap, so the call takes as long as the slowest of them. If
  /// the hub has no executor, handlers may run on the caller's thread until one suspends. If one of
  /// them blocks, it delays the subscribers after it and the caller, even if another answer fixes the
  /// outcome meanwhile. With a deadline, ``vote(_:by:within:absent:_:)``, it delays nobody as long as
  /// the pool has a thread left.
  ///
  /// **Isolation.** Handlers run on the hub's executor or the subscription's, on no actor, with the
  /// caller's task-locals and priority.
  ///
  /// **Cancellation.** Cancelling the caller's task cancels the handlers; the call returns when
  /// they have answered. The handler of a single subscriber runs in the caller's own task if neither
  /// the subscriber nor the hub has an executor. If it cancels that task, it cancels the caller.
  ///
  /// **Errors.** The first error thrown fails the call, cancels the rest, and is rethrown with its type.
  ///
  /// ```swift
  /// if await hub.vote(WorkerDelegate.self, { await $0.worker(self, shouldPerform: subtask) }) {
  ///   perform(subtask)  // nobody said no
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to ask.
  ///   - rule: how the answers combine; by default one `false` denies, and nobody to ask means `true`.
  ///   - body: the question.
  /// - Returns: the outcome.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  public nonisolated func vote<P, E>(
    _ protocol: P.Type, by rule: some Combiner<Bool, Bool> = .unanimous,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> Bool
  ) async throws(E) -> Bool {
    try await vote(among: Audience(`protocol`), by: rule, body)
  }

  @inlinable
  @inline(__always)
  nonisolated func vote<P, Rule: Combiner<Bool, Bool>, E>(
    among audience: Audience<P>, by rule: Rule,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> Bool
  ) async throws(E) -> Bool {
    // The same as `ask`, which is not called because it would need a conversion of `body`.
    @inline(__always)
    @Sendable func answer(of node: SubscriptionNode) async -> Answer<Bool, E> {
      guard let subscriber = node.subscriber(in: audience, for: .vote) else { return .absence }
      do throws(E) {
        return .response(try await body(subscriber))
      } catch {
        node.noteFailure()
        return .failure(error)
      }
    }
    let isElsewhere = isCalledOnOtherExecutor
    if let node = soleSubscription(of: audience.key, calledElsewhere: isElsewhere) {
      let ballot = Ballot<Rule, E>(asking: 1, combiner: rule)
      return try await decide(ballot, in: .vote, of: node) { await answer(of: $0) }.get()
    }
    var poll: Poll<Ballot<Rule, E>>?
    await conduct(audience, in: .vote, calledElsewhere: isElsewhere) { nodes in
      let present = Poll(Ballot<Rule, E>(asking: nodes.count, combiner: rule))
      poll = present
      if present.isDecidedAtOnce() { return nil }
      return Inquiry { round, worker, first, isSingle in
        await round.run(from: first, as: worker, only: isSingle, to: present) {
          await answer(of: $0)
        }
      }
    }
    return try Poll.takeDecision(of: poll).get()
  }

  /// Asks every subscriber of a protocol, side by side, and combines the responses.
  ///
  /// As ``vote(_:by:_:)-2k4ay``, for responses and outcomes of any type: it returns as soon as the combiner
  /// has an outcome.
  ///
  /// **Order**, **Isolation** and **Cancellation.** As with ``vote(_:by:_:)-2k4ay``. Responses reach the
  /// combiner as they come, with the subscriber's position.
  ///
  /// **Errors.** The first error thrown fails the call, cancels the rest, and is rethrown with its type.
  ///
  /// ```swift
  /// let load = await hub.ask(Node.self, combining: .sum()) { await $0.load }
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to ask.
  ///   - combiner: how the responses combine.
  ///   - body: the question.
  /// - Returns: the combiner's outcome.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, plus the combiner's work.
  @inlinable
  public nonisolated func ask<P, C: Combiner, E>(
    _ protocol: P.Type, combining combiner: C,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> C.Response
  ) async throws(E) -> C.Outcome {
    try await ask(among: Audience(`protocol`), combining: combiner, in: .ask, body)
  }

  @inlinable
  @inline(__always)
  nonisolated func ask<P, C: Combiner, E>(
    among audience: Audience<P>, combining combiner: C, in call: CallKind,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> C.Response
  ) async throws(E) -> C.Outcome {
    @inline(__always)
    @Sendable func answer(of node: SubscriptionNode) async -> Answer<C.Response, E> {
      guard let subscriber = node.subscriber(in: audience, for: call) else { return .absence }
      do throws(E) {
        return .response(try await body(subscriber))
      } catch {
        node.noteFailure()
        return .failure(error)
      }
    }
    let isElsewhere = isCalledOnOtherExecutor
    if let node = soleSubscription(of: audience.key, calledElsewhere: isElsewhere) {
      let ballot = Ballot<C, E>(asking: 1, combiner: combiner)
      return try await decide(ballot, in: call, of: node) { await answer(of: $0) }.get()
    }
    var poll: Poll<Ballot<C, E>>?
    await conduct(audience, in: call, calledElsewhere: isElsewhere) { nodes in
      let present = Poll(Ballot<C, E>(asking: nodes.count, combiner: combiner))
      poll = present
      if present.isDecidedAtOnce() { return nil }
      return Inquiry { round, worker, first, isSingle in
        await round.run(from: first, as: worker, only: isSingle, to: present) {
          await answer(of: $0)
        }
      }
    }
    return try Poll.takeDecision(of: poll).get()
  }

  /// Asks every subscriber of a protocol for a yes or no, returns by a deadline, and does not
  /// throw.
  ///
  /// As ``vote(_:by:_:)-2k4ay``, but it returns by the deadline even if a subscriber never answers and
  /// ignores cancellation. A subscriber that throws or is late counts as `absent` says. Late
  /// handlers are cancelled, and may still run when it returns.
  ///
  /// **Order** and **Isolation.** As with ``vote(_:by:_:)-2k4ay``, except that with a deadline no handler
  /// runs in the caller's place.
  ///
  /// **Cancellation.** Cancelling the caller's task cancels the handlers; the call returns when they
  /// have answered, or at the deadline.
  ///
  /// **Errors.** It does not throw.
  ///
  /// ```swift
  /// let isAllowed = await hub.vote(
  ///   Gatekeeper.self, within: .milliseconds(50), absent: .counts(as: false)
  /// ) { try await $0.mayEnter(guest) }
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to ask.
  ///   - rule: how the answers combine; by default one `false` denies, and nobody to ask means `true`.
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for as long as it takes. With
  ///     zero nobody is asked, a negative one stops the program.
  ///   - absence: what to count for a subscriber that throws or is late.
  ///   - body: the question.
  /// - Returns: the outcome.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  public nonisolated func vote<P>(
    _ protocol: P.Type, by rule: some Combiner<Bool, Bool> = .unanimous,
    within duration: Duration? = nil, absent absence: Absence<Bool>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Bool
  ) async -> Bool {
    await ask(
      among: Audience(`protocol`), combining: rule,
      by: deadline(within: duration, in: "vote(_:by:within:absent:_:)"), absent: absence,
      in: .vote, body)
  }

  /// Asks every subscriber of a protocol, combines the responses, returns by a deadline, and does
  /// not throw.
  ///
  /// As ``vote(_:by:within:absent:_:)``, for responses and outcomes of any type.
  ///
  /// **Order**, **Isolation** and **Cancellation.** As with ``vote(_:by:within:absent:_:)``.
  ///
  /// **Errors.** It does not throw.
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to ask.
  ///   - combiner: how the responses combine.
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for as long as it takes. With
  ///     zero nobody is asked, a negative one stops the program.
  ///   - absence: what to count for a subscriber that throws or is late.
  ///   - body: the question.
  /// - Returns: the combiner's outcome.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, plus the combiner's work.
  @inlinable
  public nonisolated func ask<P, C: Combiner>(
    _ protocol: P.Type, combining combiner: C, within duration: Duration? = nil,
    absent absence: Absence<C.Response>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> C.Response
  ) async -> C.Outcome {
    await ask(
      among: Audience(`protocol`), combining: combiner,
      by: deadline(within: duration, in: "ask(_:combining:within:absent:_:)"), absent: absence,
      in: .ask, body)
  }

  @inlinable
  @inline(__always)
  nonisolated func ask<P, C: Combiner>(
    among audience: Audience<P>, combining combiner: C, by deadline: Deadline?,
    absent absence: Absence<C.Response>, in call: CallKind,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> C.Response
  ) async -> C.Outcome {
    let absent = absence.answer(or: Never.self)
    var poll: Poll<Ballot<C, Never>>?
    await conduct(
      audience, in: call, by: deadline, calledElsewhere: isCalledOnOtherExecutor
    ) { nodes in
      let present = Poll(
        Ballot<C, Never>(asking: nodes.count, combiner: combiner, hasDeadline: deadline != nil))
      poll = present
      if present.isDecidedAtOnce() { return nil }
      return Inquiry { round, worker, first, isSingle in
        await round.run(from: first, as: worker, only: isSingle, to: present) { node in
          guard let subscriber = node.subscriber(in: audience, for: call) else { return .absence }
          do throws(any Error) {
            return .response(try await body(subscriber))
          } catch {
            node.noteFailure(error, in: call)
            return absent
          }
        }
      } expiring: { round, isNoting in
        let late: @Sendable (Int) -> Void = { nodes[$0].noteLate(in: call) }
        present.expire(in: round, noting: isNoting ? late : nil) { _ in absent }
      }
    }
    return Poll.takeDecision(of: poll).get()
  }
}
