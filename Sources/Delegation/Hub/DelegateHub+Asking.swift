/// Questions that are asked side by side, with closures that await something.
///
/// How they are asked is in `DelegateHub+Polling`, and how one subscriber is in ``Asking``.
extension DelegateHub {
  @_alwaysEmitIntoClient
  @inline(__always)
  nonisolated func decide<P, C: Combiner>(
    by combiner: C, within duration: Duration?,
    _ asking: AskingInPlace<P, C.Response, any Error>
  ) async -> C.Outcome {
    await askApart(asking, by: combiner, within: deadline(within: duration)).outcome
  }

  /// Asks with a deadline, or none, and counts what is thrown as absent.
  @_alwaysEmitIntoClient
  @inline(__always)
  nonisolated func decide<P, C: Combiner>(
    _ recipients: Recipients<P>, by combiner: C, in call: CallKind, within duration: Duration?,
    absent absence: Absence<C.Response>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> C.Response
  ) async -> C.Outcome {
    let asking = AskingForResponse(recipients, in: call, absent: absence, body)
    let deadline = deadline(within: duration)
    return await decide(recipients, by: combiner, in: call, within: deadline, asking).outcome
  }

  /// Asks for each one's own result, on the closure's actor if it belongs to one.
  @_alwaysEmitIntoClient
  nonisolated func collect<P, R: Sendable>(
    _ recipients: Recipients<P>, within duration: Duration?,
    isolated body: @escaping @isolated(any) @Sendable (P) throws -> R
  ) async -> [Reply<R>] {
    let asking = AskingInPlace(recipients, in: .collect, isolated: body)
    return await collect(recipients, within: duration, asking: asking.answer)
  }

  @_alwaysEmitIntoClient
  nonisolated func collect<P, R: Sendable>(
    _ recipients: Recipients<P>, within duration: Duration?,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> R
  ) async -> [Reply<R>] {
    let asking = AskingForResponse(recipients, in: .collect, body)
    return await collect(recipients, within: duration, asking: asking.answer)
  }

  @_alwaysEmitIntoClient
  nonisolated func collect<P, R: Sendable>(
    _ recipients: Recipients<P>, within duration: Duration?,
    asking ask: @escaping @Sendable (SubscriptionNode, Question?) async -> Answer<R, any Error>
  ) async -> [Reply<R>] {
    let late: @Sendable (SubscriptionNode) -> Answer<Reply<R>, Never> = {
      .response(.init(of: $0, result: .failure(ReplyError.timedOut)))
    }
    let asking = AskingByClosure(late: late) { node, question in
      switch await ask(node, question) {
      case .response(let response), .substitute(let response):
        .response(.init(of: node, result: .success(response)))
      case .failure(let error): .response(.init(of: node, result: .failure(error)))
      case .absence: .absence
      }
    }
    let deadline = deadline(within: duration)
    return await decide(recipients, by: .all(), in: .collect, within: deadline, asking).get()
  }
}

extension Result {
  /// The outcome of a question that does not fail: it counts what is thrown as absent.
  @inlinable
  var outcome: Success {
    guard case .success(let outcome) = self else {
      fatalError("Delegation: a question failed that counts failures as absent")
    }
    return outcome
  }
}
