/// The questions to one protocol: each is the hub's of the same name.
extension Delegates {
  /// Asks every subscriber for a yes or no, side by side, and combines the answers.
  ///
  /// As ``DelegateHub/vote(_:by:_:)-2k4ay``.
  ///
  /// - Parameters:
  ///   - rule: how the answers combine; by default one `false` denies, and nobody to ask means `true`.
  ///   - body: the question.
  /// - Returns: the outcome.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  public func vote<E>(
    by rule: some Combiner<Bool, Bool> = .unanimous,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> Bool
  ) async throws(E) -> Bool {
    try await hub.decide(audience, by: rule, in: .vote, AskingForVote(audience, body)).get()
  }

  /// Asks every subscriber for a yes or no and combines the answers, in time and without failing.
  ///
  /// As ``DelegateHub/vote(_:by:within:absent:_:)``.
  ///
  /// - Parameters:
  ///   - rule: how the answers combine; by default one `false` denies, and nobody to ask means `true`.
  ///   - duration: how long to wait at most; `nil` for as long as it takes.
  ///   - absence: what to count for a subscriber that throws or is late.
  ///   - body: the question.
  /// - Returns: the outcome.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  public func vote(
    by rule: some Combiner<Bool, Bool> = .unanimous, within duration: Duration? = nil,
    absent absence: DelegateHub.Absence<Bool>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Bool
  ) async -> Bool {
    await hub.decide(audience, by: rule, in: .vote, within: duration, absent: absence, body)
  }

  /// Asks every subscriber, side by side, and combines the responses.
  ///
  /// As ``DelegateHub/ask(_:combining:_:)-8kxs4``.
  ///
  /// - Parameters:
  ///   - combiner: how the responses combine.
  ///   - body: the question.
  /// - Returns: the combiner's outcome.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, plus the combiner's work.
  @inlinable
  public func ask<C: Combiner, E>(
    combining combiner: C,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> C.Response
  ) async throws(E) -> C.Outcome {
    let asking = AskingForResponse(audience, in: .ask, body)
    return try await hub.decide(audience, by: combiner, in: .ask, asking).get()
  }

  /// Asks every subscriber and combines the responses, in time and without failing.
  ///
  /// As ``DelegateHub/ask(_:combining:within:absent:_:)``.
  ///
  /// - Parameters:
  ///   - combiner: how the responses combine.
  ///   - duration: how long to wait at most; `nil` for as long as it takes.
  ///   - absence: what to count for a subscriber that throws or is late.
  ///   - body: the question.
  /// - Returns: the combiner's outcome.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, plus the combiner's work.
  @inlinable
  public func ask<C: Combiner>(
    combining combiner: C, within duration: Duration? = nil,
    absent absence: DelegateHub.Absence<C.Response>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> C.Response
  ) async -> C.Outcome {
    await hub.decide(audience, by: combiner, in: .ask, within: duration, absent: absence, body)
  }

  /// Asks every subscriber, side by side, and returns each one's own result.
  ///
  /// As ``DelegateHub/collect(_:within:_:)``.
  ///
  /// - Parameters:
  ///   - duration: how long to wait at most; `nil` for as long as it takes.
  ///   - body: the question.
  /// - Returns: the replies.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  public func collect<R: Sendable>(
    within duration: Duration? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> R
  ) async -> [DelegateHub.Reply<R>] {
    await hub.collect(audience, within: duration, body)
  }

  /// Asks the subscribers one after another until one answers.
  ///
  /// As ``DelegateHub/askInTurn(_:_:)``.
  ///
  /// - Parameter body: the question.
  /// - Returns: the first answer, or `nil` if nobody had one.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  public func askInTurn<R: Sendable, E>(
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> R?
  ) async throws(E) -> R? {
    try await hub.askInTurn(audience, body).get()
  }

  /// Asks the subscribers one after another until one answers, in time and without failing.
  ///
  /// As ``DelegateHub/askInTurn(_:within:eachWithin:absent:_:)``.
  ///
  /// - Parameters:
  ///   - duration: how long to wait at most; `nil` for as long as it takes.
  ///   - each: how long to wait for each subscriber at most; `nil` for as long as it takes.
  ///   - absence: what to count for a subscriber that throws or is late.
  ///   - body: the question.
  /// - Returns: the first answer; `nil` if nobody had one, or not in time.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  public func askInTurn<R: Sendable>(
    within duration: Duration? = nil, eachWithin each: Duration? = nil,
    absent absence: DelegateHub.Absence<R?>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> R?
  ) async -> R? {
    await hub.askInTurn(audience, within: duration, each: each, absent: absence, body).outcome
  }

  /// Passes a value through the subscribers, each of which may change it or stop it.
  ///
  /// As ``DelegateHub/pass(_:through:_:)``.
  ///
  /// - Parameters:
  ///   - value: the value to pass.
  ///   - body: the step.
  /// - Returns: what the last one returned, or `nil` if one stopped it.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  public func pass<V: Sendable, E>(
    _ value: V, _ body: nonisolated(nonsending) @escaping @Sendable (P, V) async throws(E) -> V?
  ) async throws(E) -> V? {
    try await hub.pass(value, audience, body).get()
  }

  /// Passes a value through the subscribers, in time and without failing.
  ///
  /// As ``DelegateHub/pass(_:through:within:eachWithin:absent:_:)``.
  ///
  /// - Parameters:
  ///   - value: the value to pass.
  ///   - duration: how long to wait at most; `nil` for as long as it takes.
  ///   - each: how long to wait for each subscriber at most; `nil` for as long as it takes.
  ///   - absence: what to count for a subscriber that throws or is late.
  ///   - body: the step.
  /// - Returns: what the last one returned, `nil` if one stopped it; at the deadline the value so far, or
  ///   what `absent` says.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  public func pass<V: Sendable>(
    _ value: V, within duration: Duration? = nil, eachWithin each: Duration? = nil,
    absent absence: DelegateHub.Absence<V?>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P, V) async throws -> V?
  ) async -> V? {
    await hub.pass(value, audience, within: duration, each: each, absent: absence, body).outcome
  }

  // MARK: Questions that await nothing

  /// Asks every subscriber for a yes or no with a closure that awaits nothing.
  ///
  /// As ``DelegateHub/vote(_:by:_:)-11d00``.
  ///
  /// - Parameters:
  ///   - rule: how the answers combine; by default one `false` denies, and nobody to ask means `true`.
  ///   - body: the question.
  /// - Returns: the outcome.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  public func vote<E>(
    by rule: some Combiner<Bool, Bool> = .unanimous,
    _ body: @escaping @Sendable (P) throws(E) -> Bool
  ) async throws(E) -> Bool {
    try await hub.askInPlace(AskingInPlace(audience, in: .vote, body), by: rule)
  }

  /// Asks every subscriber for a yes or no on the main actor, with a closure that awaits nothing.
  ///
  /// As ``DelegateHub/vote(_:by:on:_:)``.
  ///
  /// - Parameters:
  ///   - rule: how the answers combine; by default one `false` denies, and nobody to ask means `true`.
  ///   - mainActor: the main actor; it may be left out, and the closure need not say `@MainActor` if it is not.
  ///   - body: the question.
  /// - Returns: the outcome.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  public func vote<Rule: Combiner<Bool, Bool>, E>(
    by rule: Rule = .unanimous, on mainActor: MainActor.Type = MainActor.self,
    _ body: @escaping @MainActor @Sendable (P) throws(E) -> Bool
  ) async throws(E) -> Bool {
    try await hub.askOnMainActor(audience, by: rule, in: .vote, body)
  }

  /// Asks every subscriber with a closure that awaits nothing, and combines the responses.
  ///
  /// As ``DelegateHub/ask(_:combining:_:)-1hvj7``.
  ///
  /// - Parameters:
  ///   - combiner: how the responses combine.
  ///   - body: the question.
  /// - Returns: the combiner's outcome.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, plus the combiner's work.
  @inlinable
  public func ask<C: Combiner, E>(
    combining combiner: C, _ body: @escaping @Sendable (P) throws(E) -> C.Response
  ) async throws(E) -> C.Outcome {
    try await hub.askInPlace(AskingInPlace(audience, in: .ask, body), by: combiner)
  }

  /// Asks every subscriber on the main actor with a closure that awaits nothing, and combines the responses.
  ///
  /// As ``DelegateHub/ask(_:combining:on:_:)``.
  ///
  /// - Parameters:
  ///   - combiner: how the responses combine.
  ///   - mainActor: the main actor; it may be left out, and the closure need not say `@MainActor` if it is not.
  ///   - body: the question.
  /// - Returns: the combiner's outcome.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, plus the combiner's work.
  @inlinable
  public func ask<E, C: Combiner>(
    combining combiner: C, on mainActor: MainActor.Type = MainActor.self,
    _ body: @escaping @MainActor @Sendable (P) throws(E) -> C.Response
  ) async throws(E) -> C.Outcome {
    try await hub.askOnMainActor(audience, by: combiner, in: .ask, body)
  }
}
