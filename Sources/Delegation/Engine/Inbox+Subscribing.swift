internal import Synchronization

/// Somebody who wants to subscribe.
struct Newcomer {
  let object: AnyObject
  let type: any AnyObject.Type
  let options: SubscriptionOptions
  let site: Site
}

extension Inbox {
  /// What a try to subscribe came to.
  private struct Outcome: Sendable {
    var node: SubscriptionNode
    var wake = Wake.notNeeded
    /// Subscriptions whose place was taken or whose subscribers were found dead, to be settled.
    var closed: [(node: SubscriptionNode, end: Int, reason: Termination)] = []
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
      let identity = newcomer.options.id
      let bucket = identity.map { identity in
        state.withLock { $0.indexes[key]?.identified[identity.hash] ?? [] }
      }
      // Comparing identities is the user's code: outside the lock, and again if the bucket changed.
      let namesake = bucket?.first { node in
        identity.map { node.identity?.matches($0) ?? false } ?? false
      }
      let outcome = state.withLock { state -> Outcome? in
        if let bucket, let identity {
          let present = state.indexes[key]?.identified[identity.hash] ?? []
          guard present.elementsEqual(bucket, by: ===) else { return nil }
        }
        let address = ObjectIdentifier(newcomer.object)
        let own = state.indexes[key]?.subscriptions(at: address)
          .first { $0.reference.refers(to: newcomer.object) }
        if let own {
          return change(own, as: newcomer, displacing: namesake, in: &state)
        }
        return add(newcomer, &reference, inPlaceOf: namesake, to: type, in: &state)
      }
      guard let outcome else { continue }
      // First of all: what is let go below is user's, and may wait for what was asked for here.
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
    let key = node.topic.key
    var outcome = Outcome(node: node)
    if let namesake, namesake !== node, let end = state.indexes[key]?.remove(namesake)?.end {
      outcome.closed = [(namesake, end, .cancelled)]
    }
    if let identity = newcomer.options.id {
      state.indexes[key]?.move(node, from: node.identity, to: identity)
    }
    outcome.former = node.setOptions(newcomer.options)
    if let priority = newcomer.options.priority,
      node.priority.exchange(priority, ordering: .relaxed) != priority
    {
      state.indexes[key]?.reorder()
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
    var topicIndex =
      state.indexes.removeValue(forKey: key) ?? TopicIndex(topic: Topic(type, owner: self))
    let policy = newcomer.options.policy ?? .unbounded
    var mailbox = topicIndex.makeMailbox(policy)
    var serial = state.lastSerial + 1
    var closed: [(node: SubscriptionNode, end: Int, reason: Termination)] = []
    var isOwed = false
    if let predecessor, let end = topicIndex.remove(predecessor)?.end {
      closed.append((predecessor, end, .cancelled))
      serial = predecessor.serial
      if let handedOver = predecessor.handOver(policy: policy) {
        mailbox = handedOver
        isOwed = true
      }
    }
    // Only dead objects can have lived at the address of a live one.
    for node in topicIndex.subscriptions(at: ObjectIdentifier(newcomer.object)) {
      if let end = topicIndex.remove(node)?.end { closed.append((node, end, .expired)) }
    }
    state.lastSerial = max(state.lastSerial, serial)
    let node = SubscriptionNode(
      reference: reference, topic: topicIndex.topic, mailbox: mailbox,
      attachments: Attachments().changed(by: newcomer.options), subscriberType: newcomer.type,
      site: newcomer.site, priority: newcomer.options.priority ?? 0, serial: serial)
    topicIndex.insert(node, as: newcomer.options.id)
    var needsWake = topicIndex.isHeavy
    if topicIndex.takeSweep() {
      state.sweeps.append(key)
      needsWake = true
    }
    state.indexes[key] = topicIndex
    noteChange(of: key, in: &state)
    noteInterest(in: key)
    var outcome = Outcome(node: node, closed: closed)
    if isOwed {
      // No fan-out that is under way knows of the successor.
      outcome.wake = state.wake(toFanOut: key, counting: activity)
    } else if needsWake {
      outcome.wake = state.wake(counting: activity)
    }
    return outcome
  }
}
