internal import Synchronization

/// Somebody who wants to subscribe.
struct Newcomer {
  let object: AnyObject
  let type: any AnyObject.Type
  /// The subscriber, if the hub is to keep it alive.
  let subscriber: (any Sendable)?
  let identity: Identity?
  let priority: Int
  let policy: MailboxPolicy
  let executor: (any TaskExecutor)?
  let site: Site
}

extension Inbox {
  /// What a try to subscribe came to.
  private struct Outcome: Sendable {
    var node: SubscriptionNode
    var wake: Wake
    /// A subscription whose place was taken or whose subscriber was found dead, to be settled.
    var closed: (node: SubscriptionNode, end: Int, reason: Closing)?
  }

  /// Adds a subscription, or changes the one that there is.
  func subscribe(
    _ newcomer: Newcomer, reference: consuming WeakReference, to type: Any.Type
  ) -> (node: SubscriptionNode, wake: Wake) {
    let key = ObjectIdentifier(type)
    var reference: WeakReference? = consume reference
    while true {
      let bucket = newcomer.identity.map { identity in
        state.withLock { $0.ledgers[key]?.identified[identity.hash] ?? [] }
      }
      // Comparing identities is the user's code: outside the lock, and again if the bucket changed.
      let namesake = bucket?.first { node in
        node.belongings.withLock { $0.id }?.matches(newcomer.identity!) ?? false
      }
      let outcome = state.withLock { state -> Outcome? in
        if let bucket, let identity = newcomer.identity {
          let present = state.ledgers[key]?.identified[identity.hash] ?? []
          guard present.elementsEqual(bucket, by: ===) else { return nil }
        }
        let predecessor =
          newcomer.identity == nil
          ? state.ledgers[key]?.members[ObjectIdentifier(newcomer.object)] : namesake
        if let predecessor, predecessor.reference.refers(to: newcomer.object) {
          return change(predecessor, as: newcomer, in: &state)
        }
        return add(newcomer, &reference, inPlaceOf: predecessor, to: type, in: &state)
      }
      guard let outcome else { continue }
      if let (node, end, reason) = outcome.closed { node.settle(at: end, as: reason) }
      outcome.node.setOptions(
        held: newcomer.subscriber, executor: newcomer.executor, policy: newcomer.policy)
      return (outcome.node, outcome.wake)
    }
  }

  /// Gives a subscription the options of a second one by the same object.
  private func change(
    _ node: SubscriptionNode, as newcomer: Newcomer, in state: inout State
  ) -> Outcome {
    if node.priority.exchange(newcomer.priority, ordering: .relaxed) != newcomer.priority {
      state.ledgers[node.channel.key]?.reorder()
      state.noteChange(of: node.channel.key)
    }
    return Outcome(node: node, wake: .notNeeded)
  }

  /// Adds a subscription, in the place and with the mailbox of an older one if that bears its id.
  private func add(
    _ newcomer: Newcomer, _ reference: inout WeakReference?,
    inPlaceOf predecessor: SubscriptionNode?, to type: Any.Type, in state: inout State
  ) -> Outcome {
    let key = ObjectIdentifier(type)
    guard let reference = reference.take() else {
      fatalError("Delegation: a subscription was added twice")
    }
    // Taken out while it changes, so that its tables are not copied.
    var ledger = state.ledgers.removeValue(forKey: key) ?? Ledger(channel: Channel(type))
    var mailbox = ledger.makeMailbox(newcomer.policy)
    var serial = state.lastSerial + 1
    var closed: (node: SubscriptionNode, end: Int, reason: Closing)?
    if let predecessor, let end = ledger.remove(predecessor, identityHash: newcomer.identity?.hash)
    {
      if newcomer.identity != nil {
        serial = predecessor.serial
        mailbox = predecessor.mailbox.withLock { $0.handOver(policy: newcomer.policy) } ?? mailbox
      }
      // Without an id, only a dead object can have lived at the address of a live one.
      closed = (predecessor, end, .expired)
    }
    state.lastSerial = max(state.lastSerial, serial)
    let node = SubscriptionNode(
      reference: reference, channel: ledger.channel, inbox: self, mailbox: mailbox,
      belongings: .init(subscriber: nil, id: newcomer.identity), subscriberType: newcomer.type,
      site: newcomer.site, priority: newcomer.priority, serial: serial)
    ledger.insert(node, as: newcomer.identity)
    var wake = ledger.isHeavy
    if ledger.takeSweep() {
      state.sweeps.append(key)
      wake = true
    }
    state.ledgers[key] = ledger
    state.noteChange(of: key)
    return Outcome(
      node: node, wake: wake ? state.wake(counting: activity) : .notNeeded, closed: closed)
  }
}
