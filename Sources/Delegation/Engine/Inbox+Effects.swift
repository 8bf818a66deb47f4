extension Inbox {
  /// What a lock section leaves to be done after it, for it takes long, runs user code, or both.
  struct Effects: Sendable {
    /// A wake is asked for that nobody has claimed.
    fileprivate var isWakeDue = false
    /// A notification that was posted: if nobody holds it, its captures die with it.
    var notification: Notification?
    /// What has to be done to mailboxes.
    var changes: [Change] = []
    /// Subscriptions that were terminated, to be settled.
    var terminated: [Terminated] = []
    /// Ids that are no longer used.
    var released: [Identity] = []
  }

  /// Something to be done to a mailbox.
  enum Change: Sendable {
    /// Gives a subscription other options.
    case setOptions(SubscriptionNode, SubscriptionOptions, version: Int)
    /// Gives what waits for a subscription to its successor.
    case handOver(from: SubscriptionNode, to: SubscriptionNode)
  }

  /// A subscription on which calls were forbidden.
  struct Terminated: Sendable {
    let node: SubscriptionNode
    /// How many notifications had been posted by then.
    let end: Int
    let termination: Termination
    /// The call that found the subscriber dead, if one did.
    let call: CallKind?
  }

  /// Runs a lock section, then does what it leaves to be done: wakes first, for what is released may wait
  /// for them, and what runs user code last.
  ///
  /// Must not be called under a lock or on the hub's actor.
  ///
  /// - Parameter section: what to do under the lock; takes a time that does not grow, takes no lock that
  ///   somebody may hold for long, and releases nothing that the user gave: that goes into the effects.
  /// - Returns: what the section returns.
  func update<Result: Sendable>(_ section: (inout State, inout Effects) -> Result) -> Result {
    let (result, effects) = state.withLock { state in
      var effects = Effects()
      let result = section(&state, &effects)
      effects.isWakeDue = wake.isDue
      return (result, effects)
    }
    carryOut(effects)
    return result
  }

  /// Runs one lock section after another, then does what all of them leave to be done.
  ///
  /// For what takes long as a whole: whoever waits for the lock waits for one section, and no user code
  /// runs before the last one.
  ///
  /// - Parameter section: as with ``update(_:)``; returns whether it was the last one.
  func updateInSections(_ section: (inout State, inout Effects) -> Bool) {
    var effects = Effects()
    var isOver = false
    while !isOver {
      isOver = state.withLock { section(&$0, &effects) }
    }
    effects.isWakeDue = wake.isDue
    carryOut(effects)
  }

  private func carryOut(_ effects: Effects) {
    if effects.isWakeDue { sendWake() }
    for change in effects.changes {
      switch change {
      case .setOptions(let node, let options, let version):
        node.setOptions(options, version: version)
      case .handOver(let predecessor, let successor):
        predecessor.handOver(to: successor)
      }
    }
    for ended in effects.terminated {
      ended.node.finishTermination(at: ended.end, as: ended.termination, in: ended.call)
    }
  }
}
