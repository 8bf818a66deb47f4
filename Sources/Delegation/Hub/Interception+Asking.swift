/// How a question's handlers run within interceptors.
extension Interception {
  /// Asks a claimed subscription and those claimed after it, as ``Round/run(from:as:to:asking:)``.
  ///
  /// It is not inlined into clients: they pay for its code only with the test that leads here.
  @usableFromInline
  func ask<A: Asking, C>(
    _ asking: A, from first: Round.Claim, as worker: Worker, in round: Round,
    to poll: Poll<Ballot<C, A.Failure>>
  ) async -> Round.Claim? where C.Response == A.Response {
    await round.run(from: first, as: worker, to: poll) { node in
      guard node.isReached(as: round.narrowing, endingIn: round.call) else { return node.absence() }
      let failure = SwallowedError(of: node)
      // An interceptor may bind another one, by `delayingDrain`.
      let context = HandlerContext.binding.wrappedValue
      var answer: Answer<A.Response, A.Failure>?
      await run(DelegateHub.HandlerCall(round.call, on: node)) {
        // The interceptors may have taken their time.
        guard node.isOpen, !round.isDecided else {
          answer = node.absence()
          return .notCalled
        }
        let present = await HandlerContext.binding.withValue(context) {
          await SwallowedError.binding.withValue(failure) { await asking.answer(of: node) }
        }
        answer = present
        return failure.error.map { .threw($0) } ?? present.handlerOutcome
      }
      if let answer { return answer }
      node.noteUnasked()
      // What `absent:` counts for a gate that throws or is late counts for one that they keep from answering.
      if case .substitute(let response) = asking.late(node) { return .substitute(response) }
      return .absence
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
