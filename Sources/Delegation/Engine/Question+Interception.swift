/// How a question's handlers run within interceptors.
extension Interception {
  /// Asks one subscriber.
  ///
  /// It is not inlined into clients: they pay for its code only with the test that leads here. So it is not
  /// specialized, and looks up each generic type that it uses at run time, for 300 instructions. The only one is the
  /// answer's.
  @usableFromInline
  func answer<A: Asking>(
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
