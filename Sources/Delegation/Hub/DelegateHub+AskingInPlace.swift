/// Questions that await nothing: they are asked in the caller's task, one after another, in a plain loop.
///
/// The forms for `@MainActor` have a parameter more, which has a default. So a question that fits both forms, a
/// key path, takes the one that says nothing of the main actor: Swift prefers what has fewer parameters.
extension DelegateHub {
  /// Asks every subscriber of a protocol for a yes or no with a closure that awaits nothing.
  ///
  /// As ``vote(_:by:_:)-2k4ay``, but the subscribers are asked in the caller's task, in a plain loop.
  ///
  /// ```swift
  /// if await hub.vote(DoorDelegate.self, { $0.mayEnter(guest) }) { open() }
  /// ```
  ///
  /// **Order.** One after another, by priority, then in order of subscription, up to the answer that fixes
  /// the outcome. A handler that blocks its thread holds up the others and the caller.
  ///
  /// **Isolation.** Handlers run where the caller's task runs, on no actor. If the hub has an executor, or
  /// ``Configuration/slowAfter`` or ``Configuration/interceptors`` are set, all are asked as by
  /// ``vote(_:by:_:)-2k4ay``. If a subscriber has an executor, it and those after it are.
  ///
  /// **Cancellation.** Handlers run in the caller's task, and see that it is cancelled. A handler that cancels
  /// that task cancels the caller.
  ///
  /// **Errors.** The first error thrown fails the call, and is rethrown with its type.
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
    _ body: @escaping @Sendable (P) throws(E) -> Bool
  ) async throws(E) -> Bool {
    try await askInPlace(AskingInPlace(Audience(`protocol`), in: .vote, body), by: rule)
  }

  /// Asks every subscriber of a protocol for a yes or no on the main actor, with a closure that awaits nothing.
  ///
  /// As ``vote(_:by:_:)-2k4ay``, for a closure that says `@MainActor`.
  ///
  /// **Order.** As with ``vote(_:by:_:)-2k4ay``. A subscriber that dies, or whose subscription ends, before the
  /// main actor is free is not asked.
  ///
  /// **Isolation.** Handlers run on the main actor, with the caller's task-locals and priority.
  ///
  /// **Cancellation.** As with ``vote(_:by:_:)-2k4ay``.
  ///
  /// **Errors.** The first error thrown fails the call, cancels the rest, and is rethrown with its type.
  ///
  /// ```swift
  /// if await hub.vote(WindowDelegate.self, { @MainActor in $0.mayClose() }) { close() }
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to ask.
  ///   - rule: how the answers combine; by default one `false` denies, and nobody to ask means `true`.
  ///   - mainActor: the main actor; it may be left out, and the closure need not say `@MainActor` if it is not.
  ///   - body: the question.
  /// - Returns: the outcome.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  public nonisolated func vote<P: Sendable, E>(
    _ protocol: P.Type, by rule: some Combiner<Bool, Bool> = .unanimous,
    on mainActor: MainActor.Type = MainActor.self,
    _ body: @escaping @MainActor @Sendable (P) throws(E) -> Bool
  ) async throws(E) -> Bool {
    try await askOnMainActor(Audience(`protocol`), by: rule, in: .vote, body)
  }

  /// Asks every subscriber of a protocol with a closure that awaits nothing, and combines the responses.
  ///
  /// As ``vote(_:by:_:)-11d00``, for responses and outcomes of any type.
  ///
  /// **Order**, **Isolation** and **Cancellation.** As with ``vote(_:by:_:)-11d00``.
  ///
  /// **Errors.** The first error thrown fails the call, and is rethrown with its type.
  ///
  /// ```swift
  /// let load = await hub.ask(Node.self, combining: .sum()) { $0.load }
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
    _ body: @escaping @Sendable (P) throws(E) -> C.Response
  ) async throws(E) -> C.Outcome {
    try await askInPlace(AskingInPlace(Audience(`protocol`), in: .ask, body), by: combiner)
  }

  /// Asks every subscriber of a protocol on the main actor with a closure that awaits nothing, and combines the
  /// responses.
  ///
  /// As ``vote(_:by:on:_:)``, for responses and outcomes of any type.
  ///
  /// **Order**, **Isolation** and **Cancellation.** As with ``vote(_:by:on:_:)``.
  ///
  /// **Errors.** The first error thrown fails the call, cancels the rest, and is rethrown with its type.
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to ask.
  ///   - combiner: how the responses combine.
  ///   - mainActor: the main actor; it may be left out, and the closure need not say `@MainActor` if it is not.
  ///   - body: the question.
  /// - Returns: the combiner's outcome.
  /// - Throws: the first error that a handler threw.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, plus the combiner's work.
  @inlinable
  public nonisolated func ask<P: Sendable, C: Combiner, E>(
    _ protocol: P.Type, combining combiner: C, on mainActor: MainActor.Type = MainActor.self,
    _ body: @escaping @MainActor @Sendable (P) throws(E) -> C.Response
  ) async throws(E) -> C.Outcome {
    try await askOnMainActor(Audience(`protocol`), by: combiner, in: .ask, body)
  }

  /// Asks in a loop, up to the first subscriber that needs more than that.
  @inlinable
  @inline(never)
  nonisolated func askInPlace<P, C: Combiner, E>(
    _ asking: AskingInPlace<P, C.Response, E>, by combiner: C
  ) async throws(E) -> C.Outcome {
    // Not by `subscriptions(of:)`: behind an `await`, even of what is inlined, a task looks for its executor.
    let nodes: [SubscriptionNode]
    if let published = publishedSnapshot(of: asking.audience.key) {
      nodes = published
    } else {
      nodes = await changedSubscriptions(of: asking.audience.key)
    }
    var combiner = combiner
    if let outcome = combiner.begin(asking: nodes.count) { return outcome }
    var position = 0
    // Counted until it is decided: a drain has to see what is between the loop and the round as well.
    beginLoop()
    defer { endLoop() }
    if mayAskInPlace || nodes.isEmpty {
      let decision = asking.ask(nodes, from: &position, counting: &combiner)
      if let decision { return try decision.get() }
    }
    return try await askRest(of: nodes, from: position, asking, by: combiner)
  }

  /// Asks the subscriptions from a position on: they need more than a loop.
  @inlinable
  @inline(never)
  nonisolated func askRest<P, C: Combiner, E>(
    of nodes: [SubscriptionNode], from first: Int, _ asking: AskingInPlace<P, C.Response, E>,
    by combiner: C
  ) async throws(E) -> C.Outcome {
    // Interceptors may drain the hub: then the round alone counts the question.
    let isIntercepted = surroundings?.interception != nil
    if isIntercepted { endLoop() }
    defer { if isIntercepted { beginLoop() } }
    let poll = Poll(Ballot<C, E>(asking: nodes.count - first, combiner: combiner))
    await conduct(
      asking.audience.key, among: nodes, from: first, conformingTo: asking.audience.narrowing,
      in: asking.call
    ) { _ in (asking.question(countedBy: poll), nil) }
    return try Poll.takeDecision(of: poll).get()
  }

  @inlinable
  nonisolated func askOnMainActor<P, C: Combiner, E>(
    _ audience: Audience<P>, by combiner: C, in call: CallKind,
    _ body: @escaping @MainActor @Sendable (P) throws(E) -> C.Response
  ) async throws(E) -> C.Outcome {
    let asking = AskingByClosure { node in
      await node.answerOnMainActor(in: audience, for: call, body)
    }
    return try await decide(audience, by: combiner, in: call, asking).get()
  }

  /// Counts the current task as one that asks.
  @usableFromInline
  nonisolated func beginLoop() { inbox.activity.begin() }

  /// Counts it off.
  @usableFromInline
  nonisolated func endLoop() { inbox.activity.end() }
}

/// A question that awaits nothing.
///
/// It is a type, and not a closure, so that the compiler does not make a copy of what asks it for each closure.
@frozen
@usableFromInline
struct AskingInPlace<P, Response: Sendable, Failure: Error>: Asking {
  @usableFromInline
  let audience: Audience<P>
  @usableFromInline
  let call: CallKind
  @usableFromInline
  let body: @Sendable (P) throws(Failure) -> Response

  @inlinable
  init(
    _ audience: Audience<P>, in call: CallKind,
    _ body: @escaping @Sendable (P) throws(Failure) -> Response
  ) {
    self.audience = audience
    self.call = call
    self.body = body
  }

  /// Asks one subscriber in a round's worker.
  @inlinable
  @inline(__always)
  func answer(of node: SubscriptionNode) async -> Answer<Response, Failure> {
    guard let subscriber = node.subscriber(in: audience, for: call) else { return node.absence() }
    do throws(Failure) {
      return .response(try body(subscriber))
    } catch {
      return node.failure(error)
    }
  }

  @inlinable
  var late: @Sendable (SubscriptionNode) -> Answer<Response, Failure> { { _ in .absence } }

  /// Asks one subscription after another, up to the one that decides or the first one that has an executor.
  ///
  /// It is not asynchronous, and has a combiner of its own, so that what it counts is in registers.
  ///
  /// - Returns: the decision; `nil` at a subscription that has an executor.
  @inlinable
  @inline(never)
  func ask<C: Combiner>(
    _ nodes: [SubscriptionNode], from position: inout Int, counting combiner: inout C
  ) -> Result<C.Outcome, Failure>? where C.Response == Response {
    var count = combiner
    defer { combiner = count }
    while position < nodes.count {
      let node = nodes[position]
      if node.hasExecutor { return nil }
      let outcome: C.Outcome?
      if node.beginCall() {
        switch answerInLoop(of: node) {
        case .response(let response), .substitute(let response):
          node.endCall()
          outcome = count.receive(response, from: position)
        case .absence:
          node.endCall(as: .unasked)
          outcome = count.receiveNothing(from: position)
        case .failure(let error):
          node.endFailedCall()
          return .failure(error)
        }
      } else {
        outcome = count.receiveNothing(from: position)
      }
      if let outcome { return .success(outcome) }
      position += 1
    }
    return .success(count.finish())
  }

  /// Asks one subscriber in the loop, which has yet to count off the call.
  @inlinable
  @inline(__always)
  func answerInLoop(of node: SubscriptionNode) -> Answer<Response, Failure> {
    guard let subscriber = node.subscriber(in: audience, for: call) else { return .absence }
    do throws(Failure) {
      return .response(try body(subscriber))
    } catch {
      return .failure(error)
    }
  }
}

extension SubscriptionNode {
  /// Asks on the main actor, if the subscriber lives and its subscription is open when the actor is free.
  @inlinable
  @MainActor
  func answerOnMainActor<P, Response, E>(
    in audience: Audience<P>, for call: CallKind,
    _ body: @MainActor @Sendable (P) throws(E) -> Response
  ) -> Answer<Response, E> {
    guard isOpen, let subscriber = subscriber(in: audience, for: call) else { return absence() }
    do throws(E) {
      return .response(try body(subscriber))
    } catch {
      return failure(error)
    }
  }
}
