/// How a question's handlers run within interceptors.
extension Interception {
  /// Asks a claimed subscription and those claimed after it, as ``Round/run(from:as:counting:asking:)``.
  ///
  /// It is not inlined into clients: they pay for its code only with the test that leads here. So it is not
  /// specialized, and looks up each generic type that it uses at run time, for 300 instructions. The only one is the
  /// answer's; the client's code counts it.
  ///
  /// - Parameters:
  ///   - asking: asks one subscriber.
  ///   - first: the subscription to begin with.
  ///   - worker: the worker.
  ///   - round: the question's round.
  ///   - take: counts the answer to a claim, and claims the next one.
  /// - Returns: a claimed subscription that has an executor of its own; `nil` when done.
  @usableFromInline
  func ask<A: Asking>(
    _ asking: A, from first: Round.Claim, as worker: Worker, in round: Round,
    counting take: (Answer<A.Response, A.Failure>, Round.Claim) -> Round.Claim?
  ) async -> Round.Claim? {
    await round.run(from: first, as: worker, counting: take) {
      await answer(to: asking, of: $0, as: worker, in: round)
    }
  }

  /// Asks one subscriber.
  private func answer<A: Asking>(
    to asking: A, of node: SubscriptionNode, as worker: Worker, in round: Round
  ) async -> Answer<A.Response, A.Failure> {
    guard node.isReached(by: round.admits, endingIn: round.call) else { return node.absence() }
    var answer = Answer<A.Response, A.Failure>.absence
    var isPassedOn = false
    await run(DelegateHub.HandlerCall(round.call, on: node)) {
      isPassedOn = true
      // The interceptors may have taken their time.
      guard node.isOpen, !round.isDecided else {
        node.noteUnasked()
        return .notCalled
      }
      answer = await asking.answer(of: node, in: round)
      return worker.outcome
    }
    if isPassedOn { return answer }
    node.noteUnasked()
    // What `absent:` counts for a gate that throws or is late counts for one that they keep from answering.
    if case .substitute(let response) = asking.late(node) { return .substitute(response) }
    return .absence
  }
}
