extension Inbox {
  /// What has to be done after a lock section, because it takes long or runs user code.
  struct Effects: Sendable {
    /// Whether a wake has been requested and not claimed.
    fileprivate var isWakeDue = false
    /// What concerns subscriptions; `nil` if nothing does, as in most sections, which post.
    var subscriptions: SubscriptionEffects?

    /// Adds a change of a mailbox.
    mutating func add(_ change: Change) {
      subscriptions = subscriptions ?? SubscriptionEffects()
      subscriptions?.changes.append(change)
    }

    /// Adds a subscription whose termination has begun and is to be finished.
    ///
    /// - Parameters:
    ///   - terminated: the subscription.
    ///   - options: its options, to be released.
    mutating func add(_ terminated: Terminated, releasing options: SubscriptionOptions?) {
      subscriptions = subscriptions ?? SubscriptionEffects()
      subscriptions?.terminated.append(terminated)
      if let options { release(options) }
    }

    /// Adds options to be released.
    mutating func release(_ options: SubscriptionOptions) {
      subscriptions = subscriptions ?? SubscriptionEffects()
      subscriptions?.released.append(options)
    }
  }

  /// The effects that concern subscriptions.
  struct SubscriptionEffects: Sendable {
    var changes: [Change] = []
    var terminated: [Terminated] = []
    var released: [SubscriptionOptions] = []
  }

  /// A change of a mailbox.
  enum Change: Sendable {
    /// Applies options to a subscription.
    case setOptions(SubscriptionNode, SubscriptionOptions)
    /// Has a subscription take over what is pending for its predecessor, and counts off what was counted for
    /// that.
    case takeOver(SubscriptionNode)
  }

  /// A subscription whose termination has begun.
  struct Terminated: Sendable {
    let node: SubscriptionNode
    /// How many notifications had been posted by then.
    let end: Int
    let termination: Termination
    /// The call that found the subscriber dead, if one did.
    let call: CallKind?
  }

  /// Runs a lock section, then carries out its effects: wakes first, because user code that is run by a
  /// release may wait for them, and releases last.
  ///
  /// Must not be called under a lock or on the hub's actor.
  ///
  /// - Parameter section: runs under the lock. It takes constant time, takes no lock that a thread may hold
  ///   for long, and releases nothing that the user gave: that goes into the effects.
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

  /// Runs one lock section after another, then carries out all their effects.
  ///
  /// For changes that take long as a whole: a thread that waits for the lock waits for one section, and no
  /// user code runs before the last one.
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
    guard let subscriptions = effects.subscriptions else { return }
    for change in subscriptions.changes {
      switch change {
      case .setOptions(let node, let options): node.setOptions(options)
      case .takeOver(let successor):
        successor.resume()
        // Who waits for a notification may wait for another handler now, and so come to be in a circle.
        let goals = WaitGraph.shared.withLock { $0.goals(ifAwaiting: successor.topic) }
        for goal in goals { goal.reconsider() }
        activity.end()
      }
    }
    // All are accounted for, and nobody waits for them, before any is released: a `deinit` may take its time.
    var remains = subscriptions.terminated.reversed().map { ended in
      ended.node.finishTermination(at: ended.end, as: ended.termination, in: ended.call)
    }
    for one in remains { one.passReceipts() }
    while let next = remains.popLast() { withExtendedLifetime(next) {} }
  }
}
