/// How a question's handlers run within interceptors.
extension Interception {
  /// Asks a claimed subscription and those claimed after it, as ``Round/run(from:as:only:to:asking:)``.
  ///
  /// It is not inlined into clients: they pay for its code only with the test that leads here.
  @usableFromInline
  func ask<A: Asking, C>(
    _ asking: A, from first: Round.Claim, as worker: Worker, only isSingle: Bool, in round: Round,
    to poll: Poll<Ballot<C, A.Failure>>
  ) async -> Round.Claim? where C.Response == A.Response {
    await round.run(from: first, as: worker, only: isSingle, to: poll) { node in
      var answer = Answer<A.Response, A.Failure>.absence
      // What `absent:` counts for a gate that throws or is late counts for one that an interceptor keeps from answering.
      if case .substitute = asking.late(node) { answer = asking.late(node) }
      let failure = SwallowedError(of: node)
      var isCalled = false
      await run(DelegateHub.HandlerCall(round.call, on: node)) {
        isCalled = true
        answer = await SwallowedError.binding.withValue(failure) { await asking.answer(of: node) }
        return failure.error.map { .threw($0) } ?? answer.handlerOutcome
      }
      if !isCalled { node.noteUnasked() }
      return answer
    }
  }
}

/// What knows what became of the handler that it comes from.
protocol HandlerResult {
  var handlerOutcome: DelegateHub.HandlerOutcome { get }
}

extension Answer: HandlerResult {
  var handlerOutcome: DelegateHub.HandlerOutcome {
    switch self {
    case .response(let response), .substitute(let response):
      (response as? any HandlerResult)?.handlerOutcome ?? .returned
    case .absence: .notCalled
    case .failure(let error): .threw(error)
    }
  }
}

extension DelegateHub.Reply: HandlerResult {
  var handlerOutcome: DelegateHub.HandlerOutcome {
    switch result {
    case .success: .returned
    case .failure(let error): .threw(error)
    }
  }
}
