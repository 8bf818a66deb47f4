/// Questions that await nothing: they are asked in the caller's task, one after another, in a plain loop.
///
/// Closures that belong to an actor, as those that say `@MainActor`, have forms of their own, with `P: Sendable`: by that
/// the compiler tells them from the plain ones. They are asked by a question, on the actor.
extension DelegateHub {
  /// Asks in a loop, if that does all that the handlers need.
  @_alwaysEmitIntoClient
  @inline(never)
  nonisolated func askInPlace<P, C: Combiner, E>(
    _ asking: AskingInPlace<P, C.Response, E>, by combiner: C
  ) async throws(E) -> C.Outcome {
    let topic = heardTopic(of: asking.recipients.key)
    let nodes = topic?.snapshot() ?? []
    // After the snapshot: one that has an executor has noted that before it is there.
    guard core.mayAskInPlace, asking.place == nil, topic?.usesExecutors != true else {
      return try await askApart(asking, among: nodes, by: combiner).get()
    }
    var combiner = combiner
    if let outcome = combiner.begin(asking: nodes.count) { return outcome }
    beginLoop()
    defer { endLoop() }
    var position = 0
    let decision = asking.ask(nodes, from: &position, counting: &combiner)
    if let decision { return try decision.get() }
    return try await askRest(of: nodes, from: position, asking, by: combiner).get()
  }

  /// Asks those who need more than a loop; clients do not carry its code, for it is seldom needed.
  @usableFromInline
  nonisolated func askApart<P, C: Combiner, E>(
    _ asking: AskingInPlace<P, C.Response, E>, among nodes: [SubscriptionNode]? = nil,
    by combiner: C, within deadline: Deadline? = nil
  ) async -> Result<C.Outcome, E> {
    await decide(
      asking.recipients, among: nodes, by: combiner, in: asking.call, within: deadline, asking.apart)
  }

  /// Asks the subscriptions from one on whose place another one has, which may have an executor.
  @usableFromInline
  nonisolated func askRest<P, C: Combiner, E>(
    of nodes: [SubscriptionNode], from first: Int, _ asking: AskingInPlace<P, C.Response, E>,
    by combiner: C
  ) async -> Result<C.Outcome, E> {
    await conduct(
      asking.apart, in: asking.call, of: asking.recipients, among: nodes, from: first,
      counting: Tally<C, E>(asking: nodes.count - first, combiner: combiner))
  }

  /// Counts the current task as one that asks.
  @usableFromInline
  nonisolated func beginLoop() { core.begin() }

  /// Counts it off.
  @usableFromInline
  nonisolated func endLoop() { core.end() }
}

/// A question that awaits nothing.
///
/// It is a type, and not a closure, so that the compiler does not make a copy of what asks it for each closure.
@frozen
@usableFromInline
struct AskingInPlace<P, Response: Sendable, Failure: Error>: Sendable {
  @usableFromInline
  let recipients: Recipients<P>
  @usableFromInline
  let call: CallKind
  /// What counts for a subscriber that throws or is late; `nil` if an error fails the call.
  @usableFromInline
  let absence: DelegateHub.Absence<Response>?
  /// The actor that the closure belongs to; `nil` for none.
  @usableFromInline
  let place: (any Actor)?
  @usableFromInline
  let body: @Sendable (P) throws(Failure) -> Response

  @inlinable
  init(
    _ recipients: Recipients<P>, in call: CallKind,
    absent absence: DelegateHub.Absence<Response>? = nil, on place: (any Actor)? = nil,
    _ body: @escaping @Sendable (P) throws(Failure) -> Response
  ) {
    self.recipients = recipients
    self.call = call
    self.absence = absence
    self.place = place
    self.body = body
  }

  /// Makes a question that is asked on the closure's actor, if it belongs to one.
  @inlinable
  init(
    _ recipients: Recipients<P>, in call: CallKind,
    absent absence: DelegateHub.Absence<Response>? = nil,
    isolated body: @escaping @isolated(any) @Sendable (P) throws(Failure) -> Response
  ) {
    self.init(recipients, in: call, absent: absence, on: body.isolation, unisolated(body))
  }

  /// The same question for what asks side by side.
  @usableFromInline
  var apart: AskingByClosure<Response, Failure> {
    AskingByClosure(late: { [absence] _ in absence?.answer() ?? .absence }, answer)
  }

  /// Asks one subscriber, on the closure's actor if it belongs to one.
  @usableFromInline
  func answer(of node: SubscriptionNode, in question: Question?) async -> Answer<Response, Failure> {
    guard let place else { return answerHere(of: node) }
    return await answer(of: node, in: question, on: place)
  }

  /// Asks on an actor, unless the subscription has ended, or the outcome is fixed, when that is free.
  private func answer(
    of node: SubscriptionNode, in question: Question?, on place: isolated any Actor
  ) -> Answer<Response, Failure> {
    guard node.isOpen, question?.isDecided != true else { return node.absence() }
    return answerHere(of: node)
  }

  private func answerHere(of node: SubscriptionNode) -> Answer<Response, Failure> {
    guard let subscriber = node.subscriber(in: recipients, for: call) else { return node.absence() }
    do throws(Failure) {
      return .response(try body(subscriber))
    } catch {
      return node.failure(error, absent: absence)
    }
  }

  /// Asks one subscription after another, up to the one that decides, or one whose place another one has.
  ///
  /// It is not asynchronous, and has a combiner of its own, so that what it counts is in registers.
  ///
  /// - Returns: the decision; `nil` at a subscription whose place another one has.
  @inlinable
  @inline(never)
  func ask<C: Combiner>(
    _ nodes: [SubscriptionNode], from position: inout Int, counting combiner: inout C
  ) -> Result<C.Outcome, Failure>? where C.Response == Response {
    var count = combiner
    defer { combiner = count }
    while position < nodes.count {
      let node = nodes[position]
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
