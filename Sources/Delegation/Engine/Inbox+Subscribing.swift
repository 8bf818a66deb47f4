internal import Synchronization

/// Somebody who wants to subscribe.
struct Newcomer {
  let object: AnyObject
  let type: any AnyObject.Type
  let options: SubscriptionOptions
  let site: Site
}

extension Inbox {
  /// Adds a subscription, or changes the one that there is.
  ///
  /// - Returns: the subscription; one that has ended if the subscriber is dying.
  func subscribe(
    _ newcomer: Newcomer, reference: consuming WeakReference, to type: Any.Type
  ) -> SubscriptionNode {
    guard reference.refers(to: newcomer.object) else {
      return makeEnded(newcomer, reference: reference, of: type)
    }
    let key = ObjectIdentifier(type)
    let identity = newcomer.options.id
    var reference: WeakReference? = consume reference
    while true {
      let bucket = identity.map { identity in
        state.withLock { $0.indexes[key]?.named(identity.hash) ?? [] }
      }
      // Comparing identities is the user's code: outside the lock, and again if the bucket changed.
      let namesake = identity.flatMap { identity in
        bucket?.first { $0.identity.matches(identity) }?.node
      }
      let node = update { state, effects -> SubscriptionNode? in
        let place = state.place(of: type, in: self)
        if let bucket, let identity {
          let present = state.indexes.values[place].named(identity.hash)
          guard present.elementsEqual(bucket, by: { $0.isSame(as: $1) }) else { return nil }
        }
        return change(at: place, &state) { state in
          subscribe(newcomer, &reference, displacing: namesake, at: place, &state, &effects)
        }
      }
      if let node { return node }
    }
  }

  /// Adds a subscription, or changes the one that there is, now that it is known who bears the id.
  ///
  /// Called under the lock, as all that follows.
  private func subscribe(
    _ newcomer: Newcomer, _ reference: inout WeakReference?, displacing namesake: SubscriptionNode?,
    at place: Place, _ state: inout State, _ effects: inout Effects
  ) -> SubscriptionNode {
    let resident = state.indexes.values[place].subscription(at: ObjectIdentifier(newcomer.object))
    if let resident, resident.reference.refers(to: newcomer.object) {
      if let namesake, namesake !== resident {
        terminate(namesake, as: .cancelled, at: place, &state, &effects)
      }
      change(resident, as: newcomer, at: place, &state, &effects)
      return resident
    }
    // Only a dead object can have lived at the address of a live one.
    if let resident, resident !== namesake {
      terminate(resident, as: .expired, at: place, &state, &effects)
    }
    return add(newcomer, &reference, inPlaceOf: namesake, at: place, &state, &effects)
  }

  /// Gives a subscription the options of a second one by the same object.
  private func change(
    _ node: SubscriptionNode, as newcomer: Newcomer, at place: Place, _ state: inout State,
    _ effects: inout Effects
  ) {
    let options = newcomer.options
    if let identity = options.id,
      let former = state.indexes.values[place].rename(node, to: identity)
    {
      effects.released.append(former)
    }
    if options.namesAttachmentsOrPolicy {
      state.lastVersion += 1
      effects.changes.append(.setOptions(node, options, version: state.lastVersion))
    }
    if let priority = options.priority { state.indexes.values[place].rank(node, priority) }
  }

  /// Adds a subscription, in the place and with what waits for an older one if that bears its id.
  private func add(
    _ newcomer: Newcomer, _ reference: inout WeakReference?,
    inPlaceOf predecessor: SubscriptionNode?, at place: Place, _ state: inout State,
    _ effects: inout Effects
  ) -> SubscriptionNode {
    let topic = state.indexes.values[place].topic
    var serial = state.lastSerial + 1
    var flags: Mailbox.Flags = []
    if let predecessor, terminate(predecessor, as: .cancelled, at: place, &state, &effects) {
      serial = predecessor.serial
      flags.insert(.expectant)
    }
    state.lastSerial = max(state.lastSerial, serial)
    // Under one lock with the look, lest the worker that it is held for has left before it is the heir.
    let node = topic.succession.withLock { succession in
      guard let reference = reference.take() else {
        fatalError("Delegation: a subscription was added twice")
      }
      let isHeld = succession.holds(newcomer.object)
      if isHeld { flags.insert(.held) }
      let node = SubscriptionNode(
        reference: reference, topic: topic,
        mailbox: state.indexes.values[place].makeMailbox(
          newcomer.options.policy ?? .unbounded, flags: flags),
        attachments: Attachments(newcomer.options), subscriberType: newcomer.type,
        site: newcomer.site, priority: newcomer.options.priority ?? 0, serial: serial)
      if isHeld { succession.setHeir(node) }
      return node
    }
    if let predecessor, flags.contains(.expectant) {
      effects.changes.append(.handOver(from: predecessor, to: node))
      state.indexes.values[place]
        .insert(node, as: newcomer.options.id, inPlaceOf: predecessor)
    } else {
      state.indexes.values[place].insert(node, as: newcomer.options.id)
    }
    if state.indexes.values[place].takeSweep() {
      state.duties.sweeps.append(topic)
      askForWake()
    }
    return node
  }

  /// A subscription that has ended, for an object that is dying: nothing is kept for it.
  private func makeEnded(
    _ newcomer: Newcomer, reference: consuming WeakReference, of type: Any.Type
  ) -> SubscriptionNode {
    let topic = state.withLock { $0.indexes[ObjectIdentifier(type)]?.topic }
    let node = SubscriptionNode(
      reference: reference, topic: topic ?? Topic(type, owner: self),
      mailbox: Mailbox(at: Notification(), number: 0), attachments: Attachments(),
      subscriberType: newcomer.type, site: newcomer.site, priority: 0, serial: 0)
    _ = node.forbidCalls()
    node.settle(at: 0, as: .expired)
    return node
  }
}

extension Inbox.State {
  /// Where the index of a protocol is, made if it is new.
  fileprivate mutating func place(
    of type: Any.Type, in inbox: Inbox
  ) -> Inbox.Place {
    let key = ObjectIdentifier(type)
    if let place = indexes.index(forKey: key) { return place }
    let topic = Topic(type, owner: inbox)
    indexes[key] = TopicIndex(topic: topic)
    topics.append(topic)
    guard let place = indexes.index(forKey: key) else {
      fatalError("Delegation: an index was lost")
    }
    return place
  }
}
