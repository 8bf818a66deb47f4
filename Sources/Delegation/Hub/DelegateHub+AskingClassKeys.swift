// As in DelegateHub+ClassKeys.swift, for questions.

extension DelegateHub {
  /// Warns that the type is not a protocol, so that nobody is asked.
  ///
  /// **Order**, **Isolation**, **Cancellation** and **Errors.** As with ``vote(_:by:_:)``.
  ///
  /// - Parameters:
  ///   - protocol: a class, or a generic parameter that stands for one.
  ///   - rule: how the answers combine.
  ///   - body: the question.
  /// - Returns: what the rule says with nobody to ask.
  /// - Throws: nothing, as nobody is asked.
  /// - Complexity: O(1).
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message: "this asks a class, which reaches nobody; name a protocol: DoorDelegate.self"
  )
  public nonisolated func vote<P: AnyObject, E>(
    _ protocol: P.Type, by rule: some Combiner<Bool, Bool> = .unanimous,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> Bool
  ) async throws(E) -> Bool {
    try await vote(among: Audience(`protocol`), by: rule, body)
  }

  /// Warns that the type is not a protocol, so that nobody is asked.
  ///
  /// **Order**, **Isolation**, **Cancellation** and **Errors.** As with ``vote(_:by:within:absent:_:)``.
  ///
  /// - Parameters:
  ///   - protocol: a class, or a generic parameter that stands for one.
  ///   - rule: how the answers combine.
  ///   - duration: how long to wait at most.
  ///   - absence: what to count for a subscriber that throws or is late.
  ///   - body: the question.
  /// - Returns: what the rule says with nobody to ask.
  /// - Complexity: O(1).
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message: "this asks a class, which reaches nobody; name a protocol: DoorDelegate.self"
  )
  public nonisolated func vote<P: AnyObject>(
    _ protocol: P.Type, by rule: some Combiner<Bool, Bool> = .unanimous,
    within duration: Duration? = nil, absent absence: Absence<Bool>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Bool
  ) async -> Bool {
    await ask(
      among: Audience(`protocol`), combining: rule,
      by: deadline(within: duration, in: "vote(_:by:within:absent:_:)"), absent: absence,
      in: .vote, body)
  }

  /// Warns that the type is not a protocol, so that nobody is asked.
  ///
  /// **Order**, **Isolation**, **Cancellation** and **Errors.** As with ``ask(_:combining:_:)``.
  ///
  /// - Parameters:
  ///   - protocol: a class, or a generic parameter that stands for one.
  ///   - combiner: how the responses combine.
  ///   - body: the question.
  /// - Returns: what the combiner says with nobody to ask.
  /// - Throws: nothing, as nobody is asked.
  /// - Complexity: O(1).
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message: "this asks a class, which reaches nobody; name a protocol: DoorDelegate.self"
  )
  public nonisolated func ask<P: AnyObject, C: Combiner, E>(
    _ protocol: P.Type, combining combiner: C,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> C.Response
  ) async throws(E) -> C.Outcome {
    try await ask(among: Audience(`protocol`), combining: combiner, body)
  }

  /// Warns that the type is not a protocol, so that nobody is asked.
  ///
  /// **Order**, **Isolation**, **Cancellation** and **Errors.** As with
  /// ``ask(_:combining:within:absent:_:)``.
  ///
  /// - Parameters:
  ///   - protocol: a class, or a generic parameter that stands for one.
  ///   - combiner: how the responses combine.
  ///   - duration: how long to wait at most.
  ///   - absence: what to count for a subscriber that throws or is late.
  ///   - body: the question.
  /// - Returns: what the combiner says with nobody to ask.
  /// - Complexity: O(1).
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message: "this asks a class, which reaches nobody; name a protocol: DoorDelegate.self"
  )
  public nonisolated func ask<P: AnyObject, C: Combiner>(
    _ protocol: P.Type, combining combiner: C, within duration: Duration? = nil,
    absent absence: Absence<C.Response>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> C.Response
  ) async -> C.Outcome {
    await ask(
      among: Audience(`protocol`), combining: combiner,
      by: deadline(within: duration, in: "ask(_:combining:within:absent:_:)"), absent: absence,
      in: .ask, body
    )
  }

  /// Warns that the type is not a protocol, so that nobody is asked.
  ///
  /// **Order**, **Isolation**, **Cancellation** and **Errors.** As with ``collect(_:within:_:)``.
  ///
  /// - Parameters:
  ///   - protocol: a class, or a generic parameter that stands for one.
  ///   - duration: how long to wait at most.
  ///   - body: the question.
  /// - Returns: no replies.
  /// - Complexity: O(1).
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message: "this asks a class, which reaches nobody; name a protocol: DoorDelegate.self"
  )
  public nonisolated func collect<P: AnyObject, R: Sendable>(
    _ protocol: P.Type, within duration: Duration? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> R
  ) async -> [Reply<R>] {
    await collect(
      among: Audience(`protocol`), by: deadline(within: duration, in: "collect(_:within:_:)"), body)
  }

  /// Warns that the type is not a protocol, so that nobody is asked.
  ///
  /// **Order**, **Isolation**, **Cancellation** and **Errors.** As with ``askInTurn(_:_:)``.
  ///
  /// - Parameters:
  ///   - protocol: a class, or a generic parameter that stands for one.
  ///   - body: the question.
  /// - Returns: `nil`.
  /// - Throws: nothing, as nobody is asked.
  /// - Complexity: O(1).
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message: "this asks a class, which reaches nobody; name a protocol: DoorDelegate.self"
  )
  public nonisolated func askInTurn<P: AnyObject, R: Sendable, E>(
    _ protocol: P.Type,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(E) -> R?
  ) async throws(E) -> R? {
    try await askInTurn(among: Audience(`protocol`), body)
  }

  /// Warns that the type is not a protocol, so that nobody is asked.
  ///
  /// **Order**, **Isolation**, **Cancellation** and **Errors.** As with ``askInTurn(_:within:absent:_:)``.
  ///
  /// - Parameters:
  ///   - protocol: a class, or a generic parameter that stands for one.
  ///   - duration: how long to wait at most.
  ///   - absence: what to count for a subscriber that throws or is late.
  ///   - body: the question.
  /// - Returns: `nil`.
  /// - Complexity: O(1).
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message: "this asks a class, which reaches nobody; name a protocol: DoorDelegate.self"
  )
  public nonisolated func askInTurn<P: AnyObject, R: Sendable>(
    _ protocol: P.Type, within duration: Duration? = nil, absent absence: Absence<R?>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> R?
  ) async -> R? {
    await askInTurn(
      among: Audience(`protocol`),
      by: deadline(within: duration, in: "askInTurn(_:within:absent:_:)"), absent: absence, body)
  }

  /// Warns that the type is not a protocol, so that nobody is asked.
  ///
  /// **Order**, **Isolation**, **Cancellation** and **Errors.** As with ``pass(_:through:_:)``.
  ///
  /// - Parameters:
  ///   - value: the value to pass.
  ///   - protocol: a class, or a generic parameter that stands for one.
  ///   - body: the question.
  /// - Returns: the value as it is.
  /// - Throws: nothing, as nobody is asked.
  /// - Complexity: O(1).
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message: "this asks a class, which reaches nobody; name a protocol: DoorDelegate.self"
  )
  public nonisolated func pass<P: AnyObject, V: Sendable, E>(
    _ value: V, through protocol: P.Type,
    _ body: nonisolated(nonsending) @escaping @Sendable (P, V) async throws(E) -> V?
  ) async throws(E) -> V? {
    try await pass(value, among: Audience(`protocol`), body)
  }

  /// Warns that the type is not a protocol, so that nobody is asked.
  ///
  /// **Order**, **Isolation**, **Cancellation** and **Errors.** As with ``pass(_:through:within:absent:_:)``.
  ///
  /// - Parameters:
  ///   - value: the value to pass.
  ///   - protocol: a class, or a generic parameter that stands for one.
  ///   - duration: how long to wait at most.
  ///   - absence: what to count for a subscriber that throws or is late.
  ///   - body: the question.
  /// - Returns: the value as it is.
  /// - Complexity: O(1).
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message: "this asks a class, which reaches nobody; name a protocol: DoorDelegate.self"
  )
  public nonisolated func pass<P: AnyObject, V: Sendable>(
    _ value: V, through protocol: P.Type, within duration: Duration? = nil,
    absent absence: Absence<V?>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P, V) async throws -> V?
  ) async -> V? {
    await pass(
      value, among: Audience(`protocol`),
      by: deadline(within: duration, in: "pass(_:through:within:absent:_:)"), absent: absence, body)
  }
}
