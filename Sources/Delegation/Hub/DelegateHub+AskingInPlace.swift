/// Questions that await nothing: they are asked in the caller's task, one after another, in a plain loop.
///
/// Closures that belong to an actor, as those that say `@MainActor`, have forms of their own, with `P: Sendable`: by that
/// the compiler tells them from the plain ones. They are asked side by side, on the actor.
extension DelegateHub {
  /// Asks in a loop, up to the first subscriber that needs more than that.
  @_alwaysEmitIntoClient
  @inline(never)
  nonisolated func askInPlace<P, C: Combiner, E>(
    _ asking: AskingInPlace<P, C.Response, E>, by combiner: C
  ) async throws(E) -> C.Outcome {
    let nodes = snapshot(of: asking.recipients.key)
    var combiner = combiner
    if let outcome = combiner.begin(asking: nodes.count) {
      noteShortage(of: combiner, among: nodes.count, of: asking.recipients.base, in: asking.call)
      return outcome
    }
    // Nobody will come to count the answers.
    if nodes.isEmpty {
      noteShortage(of: combiner, among: 0, of: asking.recipients.base, in: asking.call)
      return combiner.finish()
    }
    // Counted until it is decided: a drain has to see what is between the loop and the rest as well.
    core.begin()
    defer { core.end() }
    var position = 0
    if core.mayAskInPlace && asking.place == nil {
      let decision = asking.ask(nodes, from: &position, counting: &combiner)
      if let decision { return try decision.get() }
    }
    return try await askRest(of: nodes, from: position, asking, by: combiner).get()
  }

  /// Asks side by side, from the first subscriber on that needs more than a loop; clients do not carry its code, for it
  /// is seldom needed.
  @usableFromInline
  nonisolated func askRest<P, C: Combiner, E>(
    of nodes: [SubscriptionNode], from first: Int, _ asking: AskingInPlace<P, C.Response, E>,
    by combiner: C
  ) async -> Result<C.Outcome, E> {
    // Interceptors may drain the hub: then the question alone is counted.
    if core.interception != nil { core.end() }
    defer { if core.interception != nil { core.begin() } }
    return await conduct(
      asking, in: asking.call, of: asking.recipients, among: nodes, from: first,
      counting: Tally<C, E>(asking: nodes.count - first, combiner: combiner))
  }

  /// Asks side by side from the start; clients do not carry its code.
  @usableFromInline
  nonisolated func askApart<P, C: Combiner, E>(
    _ asking: AskingInPlace<P, C.Response, E>, by combiner: C, within duration: Duration?
  ) async -> Result<C.Outcome, E> {
    await decide(
      asking.recipients, by: combiner, in: asking.call, within: deadline(within: duration), asking)
  }

  /// Asks side by side for each one's own result; clients do not carry its code.
  @usableFromInline
  nonisolated func collectApart<P, R: Sendable>(
    _ asking: AskingInPlace<P, R, any Error>, within duration: Duration?
  ) async -> [Reply<R>] {
    await decide(
      asking.recipients, by: .all(), in: .collect, within: deadline(within: duration),
      AskingForReply(asking)
    ).outcome
  }
}
