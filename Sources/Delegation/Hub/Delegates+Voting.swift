/// Questions that are asked side by side, and whose answers are combined.
extension Delegates {
  /// Asks every subscriber for a yes or no, side by side, and combines the answers.
  ///
  /// Returns as soon as the outcome is decided. Handlers that still run are then cancelled and not waited for, and
  /// handlers that have not begun are not called.
  ///
  /// **Order.** Subscribers are asked by priority, then in order of subscription; they answer in any order. Handlers
  /// that suspend overlap, so the call takes as long as the slowest of them. If the hub has no executor, handlers may
  /// run on the caller's thread until one suspends. A handler that blocks there delays the remaining subscribers and
  /// the caller, even if another answer decides meanwhile. With a deadline (`within:`), a handler that blocks delays
  /// nobody as long as the pool has a thread left. A subscriber whose subscription has ended before its turn is not
  /// asked; if the subscription was replaced, the new one's subscriber is.
  ///
  /// **Isolation.** Handlers run on the hub's executor or the subscription's, if there is one, otherwise on the pool or
  /// on the caller's thread, as above. They run on no actor, with the caller's task-locals and the priority that it had
  /// when it asked; an `async` method of an actor runs on that actor. A closure of an actor (`@MainActor`) runs there.
  /// A closure that awaits nothing is not called for a subscriber that was removed on the closure's actor before; a
  /// closure that awaits may be.
  ///
  /// **Cancellation.** Cancelling the caller's task cancels the handlers; the call returns when they have answered.
  /// While a handler runs on the caller's thread, the call notices the cancellation once the handler suspends. The
  /// thread that cancels runs the handlers' cancellation handlers: if one blocks, that thread and the call wait. A
  /// single subscriber is asked in the caller's own task, if neither it nor the hub has an executor, and the hub has no
  /// interceptors: a handler that cancels its task then cancels the caller.
  ///
  /// **Errors.** The first error thrown fails the call, cancels the other handlers, and is rethrown with its type. A
  /// rule that needs more answers than there are subscribers is an incident; see ``DelegateHub/Incident/Kind/tooFew``.
  ///
  /// - Parameters:
  ///   - rule: how the answers combine; by default one `false` denies, and nobody to ask means `true`.
  ///   - body: the question.
  /// - Returns: the outcome.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @_alwaysEmitIntoClient
  public func vote<E>(
    by rule: some Combiner<Bool, Bool> = .unanimous,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> Bool
  ) async throws(E) -> Bool {
    try await hub.decide(AskingForVote(recipients, body), by: rule).get()
  }

  /// Asks every subscriber for a yes or no, returns by a deadline, and does not throw.
  ///
  /// As the form without `absent:`, but it returns by the deadline even if a subscriber never answers and ignores
  /// cancellation. Late handlers are cancelled, and may still run when it returns; a handler that never returns leaves
  /// about 2 kB for each question. A subscriber whose subscription has ended by the deadline is not counted, even if
  /// its handler runs, and is not reported as late: a vote that must fail closed says `ofAtLeast:`.
  ///
  /// With a deadline no handler runs on the caller's thread, and a cancellation handler that blocks delays neither the
  /// call nor the thread that cancels.
  ///
  /// ```swift
  /// let isAllowed = await hub[Gatekeeper.self].vote(
  ///   by: .unanimous(ofAtLeast: 2), within: .milliseconds(50), absent: .counts(as: false)
  /// ) { try await $0.mayEnter(guest) }
  /// ```
  ///
  /// - Parameters:
  ///   - rule: how the answers combine.
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for no limit. With zero or less nobody
  ///     is asked.
  ///   - absence: what to count for a subscriber that throws or is late.
  ///   - body: the question.
  /// - Returns: the outcome.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @_alwaysEmitIntoClient
  public func vote(
    by rule: some Combiner<Bool, Bool> = .unanimous, within duration: Duration? = nil,
    absent absence: DelegateHub.Absence<Bool>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Bool
  ) async -> Bool {
    let asking = AskingForVote(recipients, absent: absence, body)
    return await hub.decide(asking, by: rule, within: duration).outcome
  }

  /// Asks every subscriber for a yes or no with a closure that awaits nothing.
  ///
  /// As the asynchronous form, but the caller's task asks the subscribers in a plain loop, where that task runs.
  ///
  /// **Order.** One after another, by priority, then in order of subscription, up to the answer that decides. A handler
  /// that blocks its thread delays the remaining subscribers and the caller.
  ///
  /// **Isolation.** Handlers run on no actor. If the hub has an executor, interceptors or
  /// ``DelegateHub/Configuration/slowAfter``, all are asked as by the asynchronous form. If a subscriber has an
  /// executor, or was replaced during the call, it and those after it are asked so.
  ///
  /// **Cancellation.** Handlers run in the caller's task, and see that it is cancelled. A handler that cancels that
  /// task cancels the caller.
  ///
  /// - Parameters:
  ///   - rule: how the answers combine.
  ///   - body: the question.
  /// - Returns: the outcome.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @_alwaysEmitIntoClient
  public func vote<E>(
    by rule: some Combiner<Bool, Bool> = .unanimous,
    _ body: @escaping @Sendable (P) throws(E) -> Bool
  ) async throws(E) -> Bool {
    try await hub.askInLoop(AskingInLoop(recipients, in: .vote, body), by: rule)
  }

  /// Asks every subscriber, side by side, and combines the responses.
  ///
  /// As `vote`, for responses and outcomes of any type. Responses reach the combiner as they come, with the
  /// subscriber's position.
  ///
  /// - Parameters:
  ///   - combiner: how the responses combine.
  ///   - body: the question.
  /// - Returns: the combiner's outcome.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, plus the combiner's work.
  @_alwaysEmitIntoClient
  public func ask<C: Combiner, E>(
    combining combiner: C,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> C.Response
  ) async throws(E) -> C.Outcome {
    let asking = AskingForResponse(recipients, in: .ask, body)
    return try await hub.decide(asking, by: combiner).get()
  }

  /// Asks every subscriber, combines the responses, returns by a deadline, and does not throw.
  ///
  /// As `vote` with `absent:`, for responses and outcomes of any type.
  ///
  /// - Parameters:
  ///   - combiner: how the responses combine.
  ///   - duration: as for `vote`.
  ///   - absence: as for `vote`.
  ///   - body: the question.
  /// - Returns: the combiner's outcome.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, plus the combiner's work.
  @_alwaysEmitIntoClient
  public func ask<C: Combiner>(
    combining combiner: C, within duration: Duration? = nil,
    absent absence: DelegateHub.Absence<C.Response>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> C.Response
  ) async -> C.Outcome {
    let asking = AskingForResponse(recipients, in: .ask, absent: absence, body)
    return await hub.decide(asking, by: combiner, within: duration).outcome
  }

  /// Asks every subscriber with a closure that awaits nothing, and combines the responses.
  ///
  /// As the synchronous `vote`, for responses and outcomes of any type.
  ///
  /// - Parameters:
  ///   - combiner: how the responses combine.
  ///   - body: the question.
  /// - Returns: the combiner's outcome.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, plus the combiner's work.
  @_alwaysEmitIntoClient
  public func ask<C: Combiner, E>(
    combining combiner: C, _ body: @escaping @Sendable (P) throws(E) -> C.Response
  ) async throws(E) -> C.Outcome {
    try await hub.askInLoop(AskingInLoop(recipients, in: .ask, body), by: combiner)
  }
}

/// Questions with closures that await nothing and belong to an actor (`@MainActor`).
///
/// For a subscriber that is gone, the call does not wait for the actor.
extension Delegates where P: Sendable {
  /// Asks every subscriber for a yes or no on an actor, with a closure that awaits nothing.
  ///
  /// As the asynchronous form, for a closure or function that says `@MainActor`, or is on another global actor. A
  /// subscriber that dies, or whose subscription ends, before the actor is free is not asked. With a protocol that is
  /// not `Sendable`, which language mode 5 lets you name, handlers run off the actor; the compiler warns.
  ///
  /// - Parameters:
  ///   - rule: how the answers combine.
  ///   - body: the question.
  /// - Returns: the outcome.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @_alwaysEmitIntoClient
  public func vote<E>(
    by rule: some Combiner<Bool, Bool> = .unanimous,
    _ body: @escaping @isolated(any) @Sendable (P) throws(E) -> Bool
  ) async throws(E) -> Bool {
    let asking = AskingInLoop(recipients, in: .vote, on: body.isolation, unisolated(body))
    return try await hub.askInLoop(asking, by: rule)
  }

  /// Asks every subscriber on an actor with a closure that awaits nothing, and combines the responses.
  ///
  /// As `vote` on an actor, for responses and outcomes of any type.
  ///
  /// - Parameters:
  ///   - combiner: how the responses combine.
  ///   - body: the question.
  /// - Returns: the combiner's outcome.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, plus the combiner's work.
  @_alwaysEmitIntoClient
  public func ask<C: Combiner, E>(
    combining combiner: C, _ body: @escaping @isolated(any) @Sendable (P) throws(E) -> C.Response
  ) async throws(E) -> C.Outcome {
    let asking = AskingInLoop(recipients, in: .ask, on: body.isolation, unisolated(body))
    return try await hub.askInLoop(asking, by: combiner)
  }

  /// `vote` with `absent:` for a closure that awaits nothing, which runs on its actor, if it has one.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public func vote(
    by rule: some Combiner<Bool, Bool> = .unanimous, within duration: Duration? = nil,
    absent absence: DelegateHub.Absence<Bool>,
    _ body: @escaping @isolated(any) @Sendable (P) throws -> Bool
  ) async -> Bool {
    let asking = AskingInLoop(
      recipients, in: .vote, absent: absence, on: body.isolation, unisolated(body))
    return await hub.decideOutOfLine(asking, by: rule, within: duration).outcome
  }

  /// `ask` with `absent:` for a closure that awaits nothing, which runs on its actor, if it has one.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public func ask<C: Combiner>(
    combining combiner: C, within duration: Duration? = nil,
    absent absence: DelegateHub.Absence<C.Response>,
    _ body: @escaping @isolated(any) @Sendable (P) throws -> C.Response
  ) async -> C.Outcome {
    let asking = AskingInLoop(
      recipients, in: .ask, absent: absence, on: body.isolation, unisolated(body))
    return await hub.decideOutOfLine(asking, by: combiner, within: duration).outcome
  }
}
