internal import Synchronization

/// Somebody who wants to subscribe.
struct Newcomer {
  let object: AnyObject
  let type: any AnyObject.Type
  let belongings: Belongings
  let priority: Int
  let policy: MailboxPolicy
  let site: Site
}

extension Inbox {
  /// What a try to subscribe came to.
  private struct Outcome: Sendable {
    var node: SubscriptionNode
    var wake = Wake.notNeeded
    /// Subscriptions whose place was taken or whose subscribers were found dead, to be settled.
    var closed: [(node: SubscriptionNode, end: Int, reason: Closing)] = []
    /// What a change of options left over.
    var former: SubscriptionNode.FormerOptions?
  }

  /// Adds a subscription, or changes the one that there is.
  func subscribe(
    _ newcomer: Newcomer, reference: consuming WeakReference, to type: Any.Type
  ) -> SubscriptionNode {
    let key = ObjectIdentifier(type)
    var reference: WeakReference? = consume reference
    while true {
      let identity = newcomer.belongings.id
      let bucket = identity.map { identity in
        state.withLock { $0.ledgers[key]?.identified[identity.hash] ?? [] }
      }
      // Comparing identities is the user's code: outside the lock, and again if the bucket changed.
      let namesake = bucket?.first { node in
        identity.map { node.identity?.matches($0) ?? false } ?? false
      }
      let outcome = state.withLock { state -> Outcome? in
        if let bucket, let identity {
          let present = state.ledgers[key]?.identified[identity.hash] ?? []
          guard present.elementsEqual(bucket, by: ===) else { return nil }
        }
        let address = ObjectIdentifier(newcomer.object)
        let own = state.ledgers[key]?.subscriptions(at: address)
          .first { $0.reference.refers(to: newcomer.object) }
        if let own {
          return change(own, as: newcomer, displacing: namesake, in: &state)
        }
        return add(newcomer, &reference, inPlaceOf: namesake, to: type, in: &state)
      }
      guard let outcome else { continue }
      // First of all: what is let go below is foreign, and may wait for what was asked for here.
      send(outcome.wake)
      for (node, end, reason) in outcome.closed { node.settle(at: end, as: reason) }
      outcome.former?.discard()
      return outcome.node
    }
  }

  /// Gives a subscription the options of a second one by the same object.
  private func change(
    _ node: SubscriptionNode, as newcomer: Newcomer, displacing namesake: SubscriptionNode?,
    in state: inout State
  ) -> Outcome {
    let key = node.channel.key
    var outcome = Outcome(node: node)
    if let namesake, namesake !== node, let end = state.ledgers[key]?.remove(namesake)?.end {
      outcome.closed = [(namesake, end, .cancelled)]
    }
    var belongings = newcomer.belongings
    if let identity = belongings.id {
      state.ledgers[key]?.move(node, from: node.identity, to: identity)
    } else {
      belongings = belongings.identified(by: node.identity)
    }
    outcome.former = node.setOptions(belongings, policy: newcomer.policy)
    if node.priority.exchange(newcomer.priority, ordering: .relaxed) != newcomer.priority {
      state.ledgers[key]?.reorder()
    }
    noteChange(of: key, in: &state)
    return outcome
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
    var ledger =
      state.ledgers.removeValue(forKey: key) ?? Ledger(channel: Channel(type, inbox: self))
    var mailbox = ledger.makeMailbox(newcomer.policy)
    var serial = state.lastSerial + 1
    var closed: [(node: SubscriptionNode, end: Int, reason: Closing)] = []
    var isOwed = false
    if let predecessor, let end = ledger.remove(predecessor)?.end {
      closed.append((predecessor, end, .cancelled))
      serial = predecessor.serial
      if let handedOver = predecessor.handOver(policy: newcomer.policy) {
        mailbox = handedOver
        isOwed = true
      }
    }
    // Only dead objects can have lived at the address of a live one.
    for node in ledger.subscriptions(at: ObjectIdentifier(newcomer.object)) {
      if let end = ledger.remove(node)?.end { closed.append((node, end, .expired)) }
    }
    state.lastSerial = max(state.lastSerial, serial)
    let node = SubscriptionNode(
      reference: reference, channel: ledger.channel, mailbox: mailbox,
      belongings: newcomer.belongings, subscriberType: newcomer.type, site: newcomer.site,
      priority: newcomer.priority, serial: serial)
    ledger.insert(node, as: newcomer.belongings.id)
    var needsWake = ledger.isHeavy
    if ledger.takeSweep() {
      state.sweeps.append(key)
      needsWake = true
    }
    state.ledgers[key] = ledger
    noteChange(of: key, in: &state)
    noteInterest(in: key)
    var outcome = Outcome(node: node, closed: closed)
    if isOwed {
      // No wave that is under way knows of the successor.
      outcome.wake = state.wake(toFanOut: key, counting: activity)
    } else if needsWake {
      outcome.wake = state.wake(counting: activity)
    }
    return outcome
  }
}
