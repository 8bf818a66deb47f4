extension Inbox {
  /// What has to be done with a subscription after a lock section, because it takes long or runs user code.
  ///
  /// Most sections, which post, have none.
  enum Effect: Sendable {
    /// Applies options to it.
    case setOptions(SubscriptionNode, SubscriptionOptions)
    /// Has it take over what is pending for its predecessor, and counts off what was counted for that.
    case takeOver(SubscriptionNode)
    /// Finishes its termination, which began when so many notifications had been posted; the call is the one that
    /// found the subscriber dead, if one did.
    case finish(SubscriptionNode, at: Int, as: Termination, in: CallKind?)
    /// Releases options.
    case release(SubscriptionOptions)
  }

  /// Runs a lock section, then carries out its effects: wakes first, because user code that is run by a
  /// release may wait for them, and releases last.
  ///
  /// Must not be called under a lock or on the hub's actor.
  ///
  /// - Parameter section: runs under the lock. It takes constant time, takes no lock that a thread may hold
  ///   for long, and releases nothing that the user gave: that goes into the effects.
  /// - Returns: what the section returns.
  func update<Result: Sendable>(_ section: (inout State, inout [Effect]) -> Result) -> Result {
    let (result, effects, isWakeDue) = state.withLock { state in
      var effects: [Effect] = []
      let result = section(&state, &effects)
      return (result, effects, wake.isDue)
    }
    if isWakeDue { sendWake() }
    if !effects.isEmpty { carryOut(effects) }
    return result
  }

  /// Runs one lock section after another, then carries out all their effects.
  ///
  /// For changes that take long as a whole: a thread that waits for the lock waits for one section, and no
  /// user code runs before the last one.
  ///
  /// - Parameter section: as with ``update(_:)``; returns whether it was the last one.
  func updateInSections(_ section: (inout State, inout [Effect]) -> Bool) {
    var effects: [Effect] = []
    var isOver = false
    while !isOver {
      isOver = state.withLock { section(&$0, &effects) }
    }
    if wake.isDue { sendWake() }
    carryOut(effects)
  }

  private func carryOut(_ effects: [Effect]) {
    // All are accounted for, and nobody waits for them, before any is released: a `deinit` may take its time.
    var remains: [(pending: Mailbox?, options: SubscriptionOptions?)] = []
    for effect in effects {
      switch effect {
      case .setOptions(let node, let options): node.setOptions(options)
      case .takeOver(let successor):
        successor.resume()
        // Who waits for a notification may wait for another handler now, and so come to be in a circle.
        // Those that came before the first such wait have nothing to do with it.
        let waits = WaitGraph.shared.withLock { $0.all(sincePassingOf: successor) }
        for wait in waits { wait.goal.update { $0.reconsider() } }
        activity.end()
      case .finish(let node, let end, let termination, let call):
        remains.append(node.finishTermination(at: end, as: termination, in: call))
      case .release: break
      }
    }
    remains.reverse()
    while let next = remains.popLast() { withExtendedLifetime(next) {} }
  }
}
