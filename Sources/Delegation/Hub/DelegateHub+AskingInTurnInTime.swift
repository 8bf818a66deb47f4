internal import Synchronization

extension DelegateHub {
  /// Asks the subscribers of a protocol one after another until one answers or the deadline comes;
  /// does not throw.
  ///
  /// As ``askInTurn(_:_:)``, but returns by the deadline even if a subscriber never answers and ignores
  /// cancellation. A subscriber that throws or is late is skipped, or has the answer that `absent` says.
  /// At the deadline no further subscriber is asked; the handler that runs is cancelled, and may still be
  /// running when it returns.
  ///
  /// **Order.** By priority, then in order of subscription; each is asked when the one before has
  /// returned.
  ///
  /// **Isolation.** As with ``askInTurn(_:_:)``, except that with a deadline handlers run in a task of
  /// their own, with the caller's task-locals and priority.
  ///
  /// **Cancellation.** Cancelling the caller's task cancels the handler that runs, and those that
  /// run after it. The call returns when they have answered, or at the deadline.
  ///
  /// **Errors.** It does not throw.
  ///
  /// ```swift
  /// let user = await hub.askInTurn(
  ///   Authenticator.self, within: .milliseconds(200), absent: .abstains
  /// ) { try await $0.user(for: token) }
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol whose subscribers to ask.
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for as long as it takes. With
  ///     zero nobody is asked, a negative one stops the program.
  ///   - absence: what to count for a subscriber that throws or is late: nothing, or an answer; `nil` is
  ///     no answer.
  ///   - body: the question.
  /// - Returns: the first answer; `nil` if nobody had one, and if nobody had one in time.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  public nonisolated func askInTurn<P, R: Sendable>(
    _ protocol: P.Type, within duration: Duration? = nil, absent absence: Absence<R?>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> R?
  ) async -> R? {
    await askInTurn(
      among: Audience(`protocol`),
      by: deadline(within: duration, in: "askInTurn(_:within:absent:_:)"), absent: absence, body)
  }

  @inlinable
  nonisolated func askInTurn<P, R: Sendable>(
    among audience: Audience<P>, by deadline: Deadline?, absent absence: Absence<R?>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> R?
  ) async -> R? {
    await inTurn(
      of: audience.key, conformingTo: audience.narrowing, in: .askInTurn, by: deadline,
      startingWith: nil, absent: absence.substitute
    ) { node, _ in
      guard let subscriber = node.subscriber(in: audience, for: .askInTurn),
        let answer = await node.answer(
          in: .askInTurn, or: absence.substitute, { try await body(subscriber) })
      else { return nil }
      return answer == nil ? .goOn(nil) : .stop(.success(answer))
    }
  }

  /// Passes a value through the subscribers of a protocol until the deadline comes; does not throw.
  ///
  /// As ``pass(_:through:_:)``, but returns by the deadline even if a subscriber never answers and
  /// ignores cancellation. A subscriber that throws or is late is skipped and leaves the value as it is, or
  /// has the answer that `absent` says. At the deadline no further subscriber is asked; the handler that
  /// runs is cancelled, and may still be running when it returns.
  ///
  /// - Warning: With `absent: .abstains` the value that comes back at the deadline may not have
  ///   been seen by all subscribers. If each of them must see it, stop it with `.counts(as: nil)`.
  ///
  /// **Order**, **Isolation**, **Cancellation** and **Errors.** As with
  /// ``askInTurn(_:within:absent:_:)``.
  ///
  /// ```swift
  /// let text = await hub.pass(
  ///   message, through: Rewriter.self, within: .milliseconds(50), absent: .abstains
  /// ) { try await $0.rewrite($1) }
  /// ```
  ///
  /// - Parameters:
  ///   - value: the value to pass.
  ///   - protocol: the protocol whose subscribers to pass it through.
  ///   - duration: how long to wait at most, by the hub's clock; `nil` for as long as it takes. With
  ///     zero nobody is asked, a negative one stops the program.
  ///   - absence: what to count for a subscriber that throws or is late: nothing, or an answer; `nil`
  ///     stops the value.
  ///   - body: the step.
  /// - Returns: what the last one returned, `nil` if one stopped it; at the deadline the value so far, or
  ///   what `absent` says.
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  @inlinable
  public nonisolated func pass<P, V: Sendable>(
    _ value: V, through protocol: P.Type, within duration: Duration? = nil,
    absent absence: Absence<V?>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P, V) async throws -> V?
  ) async -> V? {
    await pass(
      value, among: Audience(`protocol`),
      by: deadline(within: duration, in: "pass(_:through:within:absent:_:)"), absent: absence, body)
  }

  @inlinable
  nonisolated func pass<P, V: Sendable>(
    _ value: V, among audience: Audience<P>, by deadline: Deadline?, absent absence: Absence<V?>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P, V) async throws -> V?
  ) async -> V? {
    await inTurn(
      of: audience.key, conformingTo: audience.narrowing, in: .pass, by: deadline,
      startingWith: value, absent: absence.substitute
    ) { node, value in
      guard let value, let subscriber = node.subscriber(in: audience, for: .pass),
        let changed = await node.answer(
          in: .pass, or: absence.substitute, { try await body(subscriber, value) })
      else { return nil }
      return changed == nil ? .stop(.success(nil)) : .goOn(changed)
    }
  }

  /// Asks subscriptions one after another, by a deadline if there is one.
  ///
  /// - Parameters:
  ///   - key: the key of the protocol.
  ///   - narrowing: the further protocols that those who are asked must conform to; `nil` for none.
  ///   - call: the kind of call.
  ///   - deadline: the deadline of the decision; `nil` for none.
  ///   - value: the initial value.
  ///   - answer: what counts as the answer of a late subscriber, and decides; `nil` if it is skipped.
  ///   - take: one subscriber's turn; `nil` if it is skipped.
  /// - Returns: the result of the last turn.
  @inlinable
  nonisolated func inTurn<Value: Sendable>(
    of key: ObjectIdentifier, conformingTo narrowing: Narrowing?, in call: CallKind,
    by deadline: Deadline?, startingWith value: Value, absent answer: Value?,
    _ take:
      @escaping @Sendable (SubscriptionNode, Value) async
      -> Turn<Value, Never>?
  ) async -> Value {
    guard let deadline else {
      let result = await inTurn(
        of: key, conformingTo: narrowing, in: call, startingWith: value, take)
      return result.get()
    }
    // As without a deadline, turns follow each other.
    let state = Lock(value)
    var poll: Poll<TurnBallot<Value>>?
    await conduct(
      key, conformingTo: narrowing, inOrder: .inTurn, in: call, by: deadline,
      calledElsewhere: isCalledOnOtherExecutor
    ) { nodes in
      let present = Poll(TurnBallot(asking: nodes.count, startingWith: value))
      poll = present
      if present.isDecidedAtOnce() { return nil }
      return Inquiry { round, worker, first, isSingle in
        await round.run(from: first, as: worker, only: isSingle, to: present) { node in
          let turn = await take(node, state.withLock { $0 })
          if case .goOn(let value) = turn { state.withLock { $0 = value } }
          return turn
        }
      } expiring: { round, isNoting in
        let late = isNoting ? Self.noteFirstLate(nodes, in: call) : nil
        present.expire(in: round, noting: late) { _ in answer.map { .stop(.success($0)) } }
      }
    }
    return Poll.takeDecision(of: poll)
  }

  /// Makes a closure that notes a late subscriber, by its position: only the first, whose turn it was.
  @usableFromInline
  static func noteFirstLate(
    _ nodes: [SubscriptionNode], in call: CallKind
  ) -> @Sendable (Int) -> Void {
    let isNoted = Atomic(false)
    return { position in
      if isNoted.exchange(true, ordering: .relaxed) { return }
      nodes[position].noteLate(in: call)
    }
  }
}

extension SubscriptionNode {
  /// The subscriber's answer; if it throws, that is noted, and the absence is the answer.
  @inlinable
  func answer<Response>(
    in call: CallKind, or absence: Response?,
    _ body: () async throws -> Response
  ) async -> Response? {
    do {
      return try await body()
    } catch {
      noteFailure(error, in: call)
      return absence
    }
  }
}
