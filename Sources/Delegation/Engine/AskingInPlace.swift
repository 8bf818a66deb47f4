/// A question that awaits nothing.
///
/// It is a type, and not a closure, so that the compiler does not make a copy of what asks it for each closure.
@frozen @usableFromInline
struct AskingInPlace<P, Response: Sendable, Failure: Error>: Asking {
  @usableFromInline let recipients: Recipients<P>
  @usableFromInline let call: CallKind
  @usableFromInline let late: Answer<Response, Failure>.Late?
  /// The actor that the closure belongs to; `nil` for none.
  @usableFromInline let place: (any Actor)?
  @usableFromInline let body: @Sendable (P) throws(Failure) -> Response

  @inlinable
  init(
    _ recipients: Recipients<P>, in call: CallKind,
    absent absence: DelegateHub.Absence<Response>? = nil, on place: (any Actor)? = nil,
    _ body: @escaping @Sendable (P) throws(Failure) -> Response
  ) {
    (self.recipients, self.call, self.place, self.body) = (recipients, call, place, body)
    late = absence?.late()
  }

  /// Asks one subscriber, on the closure's actor if it belongs to one.
  @_alwaysEmitIntoClient @inline(__always)
  func answer(of node: SubscriptionNode, in question: Question?) async -> Answer<Response, Failure>
  {
    guard let place else { return answerHere(of: node) }
    // The actor may be busy: who is gone does not wait for it.
    guard node.isReached(by: recipients.admits, endingIn: call) else { return node.absence() }
    HandlerContext.note(.unasked)
    return await answer(of: node, in: question, on: place)
  }

  /// Asks on an actor, unless the subscription has ended, or the outcome is fixed, when that is free.
  @usableFromInline
  func answer(
    of node: SubscriptionNode, in question: Question?, on place: isolated any Actor
  ) -> Answer<Response, Failure> {
    guard node.isOpen, question?.isDecided != true else { return node.absence() }
    HandlerContext.note(.answered)
    return answerHere(of: node)
  }

  @usableFromInline
  func answerHere(of node: SubscriptionNode) -> Answer<Response, Failure> {
    guard let subscriber = node.subscriber(in: recipients, for: call) else { return node.absence() }
    do throws(Failure) {
      return .response(try body(subscriber))
    } catch {
      return node.failure(error, absent: late)
    }
  }

  /// Asks one subscription after another, up to the one that decides, or one that has an executor or whose place
  /// another one has.
  ///
  /// It is not asynchronous, and has a combiner of its own, so that what it counts is in registers.
  ///
  /// - Returns: the decision; `nil` at a subscription that needs more than a loop.
  @_alwaysEmitIntoClient @inline(never)
  func ask<C: Combiner>(
    _ nodes: [SubscriptionNode], from position: inout Int, counting combiner: inout C
  ) -> Result<C.Outcome, Failure>? where C.Response == Response {
    var count = combiner
    defer { combiner = count }
    while position < nodes.count {
      let node = nodes[position]
      if node.hasExecutor { return nil }
      let outcome: C.Outcome?
      do throws(Failure) {
        if let response = try node.call(in: recipients, for: call, body) {
          outcome = count.receive(response, from: position)
        } else if node.heir != nil {
          return nil
        } else {
          outcome = count.receiveNothing(from: position)
        }
      } catch {
        return .failure(error)
      }
      if let outcome { return .success(outcome) }
      position += 1
    }
    return .success(count.finish())
  }
}
