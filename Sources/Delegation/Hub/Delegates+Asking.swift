/// The questions to one protocol: each is the hub's of the same name.
extension Delegates {
  /// As ``DelegateHub/vote(_:by:_:)-2k4ay``.
  @_alwaysEmitIntoClient
  public func vote<E>(
    by rule: some Combiner<Bool, Bool> = .unanimous,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> Bool
  ) async throws(E) -> Bool {
    try await hub.decide(recipients, by: rule, in: .vote, AskingForVote(recipients, body)).get()
  }

  /// As ``DelegateHub/vote(_:by:within:absent:_:)``.
  @_alwaysEmitIntoClient
  public func vote(
    by rule: some Combiner<Bool, Bool> = .unanimous, within duration: Duration? = nil,
    absent absence: DelegateHub.Absence<Bool>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Bool
  ) async -> Bool {
    await hub.decide(
      recipients, by: rule, in: .vote, within: duration,
      AskingForVote(recipients, absent: absence, body))
  }

  /// As ``DelegateHub/ask(_:combining:_:)-8kxs4``.
  @_alwaysEmitIntoClient
  public func ask<C: Combiner, E>(
    combining combiner: C,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> C.Response
  ) async throws(E) -> C.Outcome {
    let asking = AskingForResponse(recipients, in: .ask, body)
    return try await hub.decide(recipients, by: combiner, in: .ask, asking).get()
  }

  /// As ``DelegateHub/ask(_:combining:within:absent:_:)``.
  @_alwaysEmitIntoClient
  public func ask<C: Combiner>(
    combining combiner: C, within duration: Duration? = nil,
    absent absence: DelegateHub.Absence<C.Response>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> C.Response
  ) async -> C.Outcome {
    await hub.decide(
      recipients, by: combiner, in: .ask, within: duration,
      AskingForResponse(recipients, in: .ask, absent: absence, body))
  }

  /// As ``DelegateHub/collect(_:within:_:)``.
  @_alwaysEmitIntoClient
  public func collect<R: Sendable>(
    within duration: Duration? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> R
  ) async -> [DelegateHub.Reply<R>] {
    await hub.collect(recipients, within: duration, AskingForResponse(recipients, in: .collect, body))
  }

  /// As ``DelegateHub/askInTurn(_:_:)``.
  @_alwaysEmitIntoClient
  public func askInTurn<R: Sendable, E>(
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> R?
  ) async throws(E) -> R? {
    try await hub.askInTurn(recipients, body).get()
  }

  /// As ``DelegateHub/askInTurn(_:within:eachWithin:absent:_:)``.
  @_alwaysEmitIntoClient
  public func askInTurn<R: Sendable>(
    within duration: Duration? = nil, eachWithin each: Duration? = nil,
    absent absence: DelegateHub.Absence<R?>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> R?
  ) async -> R? {
    await hub.askInTurn(recipients, within: duration, each: each, absent: absence, body).outcome
  }

  /// As ``DelegateHub/pass(_:through:_:)``.
  @_alwaysEmitIntoClient
  public func pass<V: Sendable, E>(
    _ value: V, _ body: nonisolated(nonsending) @escaping @Sendable (P, V) async throws(E) -> V?
  ) async throws(E) -> V? {
    try await hub.pass(value, recipients, body).get()
  }

  /// As ``DelegateHub/pass(_:through:within:eachWithin:absent:_:)``.
  @_alwaysEmitIntoClient
  public func pass<V: Sendable>(
    _ value: V, within duration: Duration? = nil, eachWithin each: Duration? = nil,
    absent absence: DelegateHub.Absence<V?>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P, V) async throws -> V?
  ) async -> V? {
    await hub.pass(value, recipients, within: duration, each: each, absent: absence, body).outcome
  }

  /// As ``DelegateHub/vote(_:by:_:)-11d00``.
  @_alwaysEmitIntoClient
  public func vote<E>(
    by rule: some Combiner<Bool, Bool> = .unanimous,
    _ body: @escaping @Sendable (P) throws(E) -> Bool
  ) async throws(E) -> Bool {
    try await hub.askInPlace(AskingInPlace(recipients, in: .vote, body), by: rule)
  }

  /// As ``DelegateHub/ask(_:combining:_:)-1hvj7``.
  @_alwaysEmitIntoClient
  public func ask<C: Combiner, E>(
    combining combiner: C, _ body: @escaping @Sendable (P) throws(E) -> C.Response
  ) async throws(E) -> C.Outcome {
    try await hub.askInPlace(AskingInPlace(recipients, in: .ask, body), by: combiner)
  }
}

/// The same with closures that await nothing and belong to an actor, as those that say `@MainActor`.
extension Delegates where P: Sendable {
  /// As ``DelegateHub/vote(_:by:_:)-959p``.
  @_alwaysEmitIntoClient
  public func vote<E>(
    by rule: some Combiner<Bool, Bool> = .unanimous,
    _ body: @escaping @isolated(any) @Sendable (P) throws(E) -> Bool
  ) async throws(E) -> Bool {
    try await hub.askInPlace(AskingInPlace(recipients, in: .vote, isolated: body), by: rule)
  }

  /// As ``DelegateHub/ask(_:combining:_:)-737te``.
  @_alwaysEmitIntoClient
  public func ask<C: Combiner, E>(
    combining combiner: C, _ body: @escaping @isolated(any) @Sendable (P) throws(E) -> C.Response
  ) async throws(E) -> C.Outcome {
    try await hub.askInPlace(AskingInPlace(recipients, in: .ask, isolated: body), by: combiner)
  }

  /// As ``DelegateHub/vote(_:by:within:absent:_:)``.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public func vote(
    by rule: some Combiner<Bool, Bool> = .unanimous, within duration: Duration? = nil,
    absent absence: DelegateHub.Absence<Bool>,
    _ body: @escaping @isolated(any) @Sendable (P) throws -> Bool
  ) async -> Bool {
    await hub.askApart(
      AskingInPlace(recipients, in: .vote, absent: absence, isolated: body), by: rule, within: duration
    ).outcome
  }

  /// As ``DelegateHub/ask(_:combining:within:absent:_:)``.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public func ask<C: Combiner>(
    combining combiner: C, within duration: Duration? = nil,
    absent absence: DelegateHub.Absence<C.Response>,
    _ body: @escaping @isolated(any) @Sendable (P) throws -> C.Response
  ) async -> C.Outcome {
    await hub.askApart(
      AskingInPlace(recipients, in: .ask, absent: absence, isolated: body), by: combiner,
      within: duration
    ).outcome
  }

  /// As ``DelegateHub/collect(_:within:_:)``.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public func collect<R: Sendable>(
    within duration: Duration? = nil, _ body: @escaping @isolated(any) @Sendable (P) throws -> R
  ) async -> [DelegateHub.Reply<R>] {
    await hub.collectApart(AskingInPlace(recipients, in: .collect, isolated: body), within: duration)
  }

  /// As ``DelegateHub/askInTurn(_:_:)``.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public func askInTurn<R: Sendable, E>(
    _ body: @escaping @isolated(any) @Sendable (P) throws(E) -> R?
  ) async throws(E) -> R? {
    try await hub.askInTurn(recipients, isolated: body).get()
  }

  /// As ``DelegateHub/askInTurn(_:within:eachWithin:absent:_:)``.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public func askInTurn<R: Sendable>(
    within duration: Duration? = nil, eachWithin each: Duration? = nil,
    absent absence: DelegateHub.Absence<R?>,
    _ body: @escaping @isolated(any) @Sendable (P) throws -> R?
  ) async -> R? {
    await hub.askInTurn(
      recipients, within: duration, each: each, absent: absence, isolated: body
    ).outcome
  }

  /// As ``DelegateHub/pass(_:through:_:)``.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public func pass<V: Sendable, E>(
    _ value: V, _ body: @escaping @isolated(any) @Sendable (P, V) throws(E) -> V?
  ) async throws(E) -> V? {
    try await hub.pass(value, recipients, isolated: body).get()
  }

  /// As ``DelegateHub/pass(_:through:within:eachWithin:absent:_:)``.
  @_alwaysEmitIntoClient
  @_documentation(visibility: internal)
  public func pass<V: Sendable>(
    _ value: V, within duration: Duration? = nil, eachWithin each: Duration? = nil,
    absent absence: DelegateHub.Absence<V?>,
    _ body: @escaping @isolated(any) @Sendable (P, V) throws -> V?
  ) async -> V? {
    await hub.pass(
      value, recipients, within: duration, each: each, absent: absence, isolated: body
    ).outcome
  }
}
