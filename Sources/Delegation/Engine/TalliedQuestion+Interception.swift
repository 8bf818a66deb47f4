/// How a question's handlers run within interceptors.
extension TalliedQuestion {
  /// One worker's part of the question: as ``Question/run(from:as:counting:asking:)``.
  ///
  /// Not inlined into clients: they pay for its code only with the test that leads here. So it is not specialized, and
  /// looks up each generic type that it uses at run time, for 300 instructions.
  @usableFromInline
  func run<A: Asking>(
    from first: Claim, as worker: Worker, within interception: Interception, _ asking: A
  ) async -> Claim? where Count.Event == Answer<A.Response, A.Failure> {
    await run(from: first, as: worker) { answer, claim in
      take(answer, from: claim, by: worker)
    } asking: { node in
      await interception.answer(to: asking, of: node, as: worker, in: self)
    }
  }
}

extension Interception {
  /// Asks one subscriber.
  fileprivate func answer<A: Asking>(
    to asking: A, of node: SubscriptionNode, as worker: Worker, in question: Question
  ) async -> Answer<A.Response, A.Failure> {
    guard node.isReached(by: question.admits, endingIn: question.call) else {
      return node.absence()
    }
    var answer = Answer<A.Response, A.Failure>.absence
    var isPassedOn = false
    await run(DelegateHub.HandlerCall(question.call, on: node)) {
      isPassedOn = true
      // The interceptors may have taken their time.
      guard node.isOpen, !question.isDecided else {
        node.noteUnasked()
        return .notCalled
      }
      answer = await asking.answer(of: node, in: question)
      return worker.outcome
    }
    if isPassedOn { return answer }
    node.noteUnasked()
    // What `absent:` counts for a gate that throws or is late counts for one that they keep from answering.
    if case .substitute(let response) = asking.late(node) { return .substitute(response) }
    return .absence
  }
}
