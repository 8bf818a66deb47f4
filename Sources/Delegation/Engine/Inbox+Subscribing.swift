internal import Synchronization

/// Somebody who wants to subscribe.
struct SubscriptionRequest {
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
    _ request: SubscriptionRequest, reference: consuming WeakReference, to type: Any.Type
  ) -> SubscriptionNode {
    guard reference.refers(to: request.object) else {
      return makeEnded(request, reference: reference, of: type)
    }
    let key = ObjectIdentifier(type)
    let identity = request.options.id
    var reference: WeakReference? = consume reference
    while true {
      let bucket = identity.map { identity in
        state.withLock { $0.indexes[key]?.named(identity.hash) ?? [] }
      }
      // Comparing identities is the user's code: outside the lock, and again if the bucket changed.
      let sameID = identity.flatMap { identity in
        bucket?.first { $0.identity.matches(identity) }?.node
      }
      let node = update { state, effects -> SubscriptionNode? in
        let place = state.place(of: type, in: self)
        if let bucket, let identity {
          let present = state.indexes.values[place].named(identity.hash)
          guard present.elementsEqual(bucket, by: { $0.isSame(as: $1) }) else { return nil }
        }
        return change(at: place, &state) { state in
          subscribe(request, &reference, replacing: sameID, at: place, &state, &effects)
        }
      }
      if let node { return node }
    }
  }

  /// Adds a subscription, or changes the one that there is, now that it is known who bears the id.
  ///
  /// Called under the lock, as all that follows.
  private func subscribe(
    _ request: SubscriptionRequest, _ reference: inout WeakReference?,
    replacing sameID: SubscriptionNode?,
    at place: Place, _ state: inout State, _ effects: inout Effects
  ) -> SubscriptionNode {
    let existing = state.indexes.values[place].subscription(at: ObjectIdentifier(request.object))
    if let existing, existing.reference.refers(to: request.object) {
      if let sameID, sameID !== existing {
        terminate(sameID, as: .cancelled, at: place, &state, &effects)
      }
      change(existing, as: request, at: place, &state, &effects)
      return existing
    }
    // Only a dead object can have lived at the address of a live one.
    if let existing, existing !== sameID {
      terminate(existing, as: .expired, at: place, &state, &effects)
    }
    return add(request, &reference, inPlaceOf: sameID, at: place, &state, &effects)
  }

  /// Gives a subscription the options of a second one by the same object.
  private func change(
    _ node: SubscriptionNode, as request: SubscriptionRequest, at place: Place,
    _ state: inout State,
    _ effects: inout Effects
  ) {
    let options = request.options
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
    _ request: SubscriptionRequest, _ reference: inout WeakReference?,
    inPlaceOf predecessor: SubscriptionNode?, at place: Place, _ state: inout State,
    _ effects: inout Effects
  ) -> SubscriptionNode {
    let topic = state.indexes.values[place].topic
    var serial = state.lastSerial + 1
    var flags: Mailbox.Flags = []
    if let predecessor, terminate(predecessor, as: .cancelled, at: place, &state, &effects) {
      serial = predecessor.serial
      flags.insert(.awaitingHandOver)
    }
    state.lastSerial = max(state.lastSerial, serial)
    // Under one lock with the look, lest the worker that it is held for has left before it is the heir.
    let node = topic.succession.withLock { succession in
      guard let reference = reference.take() else {
        fatalError("Delegation: a subscription was added twice")
      }
      let isHeld = succession.holds(request.object)
      if isHeld { flags.insert(.held) }
      let node = SubscriptionNode(
        reference: reference, topic: topic,
        mailbox: state.indexes.values[place].makeMailbox(
          request.options.policy ?? .unbounded, flags: flags),
        attachments: Attachments(request.options), subscriberType: request.type,
        site: request.site, priority: request.options.priority ?? 0, serial: serial)
      if isHeld { succession.setHeld(node) }
      return node
    }
    if let predecessor, flags.contains(.awaitingHandOver) {
      effects.changes.append(.handOver(from: predecessor, to: node))
      state.indexes.values[place]
        .insert(node, as: request.options.id, inPlaceOf: predecessor)
    } else {
      state.indexes.values[place].insert(node, as: request.options.id)
    }
    if state.indexes.values[place].takeSweep() {
      state.pendingWork.sweeps.append(topic)
      askForWake()
    }
    return node
  }

  /// A subscription that has ended, for an object that is dying: nothing is kept for it.
  private func makeEnded(
    _ request: SubscriptionRequest, reference: consuming WeakReference, of type: Any.Type
  ) -> SubscriptionNode {
    let topic = state.withLock { $0.indexes[ObjectIdentifier(type)]?.topic }
    let node = SubscriptionNode(
      reference: reference, topic: topic ?? Topic(type, owner: self),
      mailbox: Mailbox(at: Notification(), number: 0), attachments: Attachments(),
      subscriberType: request.type, site: request.site, priority: 0, serial: 0)
    _ = node.beginTermination()
    node.finishTermination(at: 0, as: .expired)
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
