internal import Synchronization

/// What a call of `subscribe` asks for.
struct SubscriptionRequest {
  let object: AnyObject
  let type: any AnyObject.Type
  let options: SubscriptionOptions?
  let priority: Int?
  let site: Site
}

extension Inbox {
  /// Adds a subscription, or changes the object's existing one.
  ///
  /// - Returns: the subscription; a terminated one if the subscriber is dying.
  func subscribe(
    _ request: SubscriptionRequest, reference: consuming WeakReference, to type: Any.Type
  ) -> SubscriptionNode {
    guard reference.refers(to: request.object) else {
      return makeEnded(request, reference: reference, of: type)
    }
    let key = ObjectIdentifier(type)
    let identity = request.options?.id
    var reference: WeakReference? = consume reference
    while true {
      let bucket = identity.map { identity in
        state.withLock { $0.indexes[key]?.named(identity.hash) ?? [] }
      }
      // Comparing identities is user code: outside the lock, and again if the bucket has changed.
      let sameID = identity.flatMap { identity in
        bucket?.first { $0.identity.matches(identity) }?.node
      }
      // From before the take-over, after which it may be released.
      let subscriber = sameID?.reference.object
      let node = update { state, effects -> SubscriptionNode? in
        let place = state.place(of: type, in: self)
        if let bucket, let identity {
          let present = state.indexes.values[place].named(identity.hash)
          let isSame = present.elementsEqual(bucket) {
            $0.node === $1.node && $0.identity === $1.identity
          }
          if !isSame { return nil }
        }
        return change(at: place, &state) { state in
          subscribe(request, &reference, replacing: sameID, at: place, &state, &effects)
        }
      }
      if let subscriber { sameID?.keep(subscriber) }
      if let node { return node }
    }
  }

  /// Adds a subscription, or changes the object's existing one.
  ///
  /// Called under the lock, as all functions below it.
  ///
  /// - Parameters:
  ///   - request: what to subscribe.
  ///   - reference: the reference to the object; taken if a subscription is added.
  ///   - sameID: the subscription that has the same id, if there is one; it is replaced.
  ///   - place: where the protocol's index is.
  ///   - state: the state under the lock.
  ///   - effects: what to do after the lock.
  /// - Returns: the subscription.
  private func subscribe(
    _ request: SubscriptionRequest, _ reference: inout WeakReference?,
    replacing sameID: SubscriptionNode?,
    at place: Place, _ state: inout State, _ effects: inout [Effect]
  ) -> SubscriptionNode {
    let existing = state.indexes.values[place].subscription(at: ObjectIdentifier(request.object))
    if let existing, existing.reference.refers(to: request.object) {
      if let sameID, sameID !== existing {
        terminate(sameID, as: .cancelled, at: place, &state, &effects)
      }
      change(existing, as: request, at: place, &state, &effects)
      return existing
    }
    // Another object with the address of a live one can only be dead.
    if let existing, existing !== sameID {
      terminate(existing, as: .expired, at: place, &state, &effects)
    }
    return add(request, &reference, inPlaceOf: sameID, at: place, &state, &effects)
  }

  /// Gives a subscription the options of a repeated one by the same object.
  private func change(
    _ node: SubscriptionNode, as request: SubscriptionRequest, at place: Place,
    _ state: inout State,
    _ effects: inout [Effect]
  ) {
    if let newer = request.options {
      let (options, former) = state.indexes.values[place].change(node, by: newer)
      effects.append(.setOptions(node, options))
      if let former { effects.append(.release(former)) }
    }
    if let priority = request.priority { state.indexes.values[place].rank(node, priority) }
  }

  /// Adds a subscription, with the place and the pending notifications of an older one with the same id.
  private func add(
    _ request: SubscriptionRequest, _ reference: inout WeakReference?,
    inPlaceOf predecessor: SubscriptionNode?, at place: Place, _ state: inout State,
    _ effects: inout [Effect]
  ) -> SubscriptionNode {
    let topic = state.indexes.values[place].topic
    let former = predecessor?.isOpen == true ? predecessor : nil
    if let former {
      // Before the worker of the predecessor can leave: until the hand-over is done, nothing else may be
      // counted, and the hub is not at rest.
      activity.begin()
      terminate(former, as: .succeeded, at: place, &state, &effects)
    } else {
      state.lastSerial += 1
    }
    var flags: Mailbox.Flags = former == nil ? [] : .awaitingHandOver
    let origin = state.indexes.values[place].origin(of: request.type, at: request.site)
    // In one lock section, so that the worker cannot leave in between.
    let node = topic.succession.withLock { succession in
      succession.add(request.object) { isHeld in
        guard let reference = reference.take() else {
          fatalError("Delegation: a subscription was added twice")
        }
        if isHeld { flags.insert(.held) }
        return SubscriptionNode(
          reference: reference, topic: topic,
          mailbox: state.indexes.values[place].makeMailbox(
            request.options?.policy ?? .unbounded, flags: flags),
          options: request.options, origin: origin, priority: request.priority ?? 0,
          serial: former?.serial ?? state.lastSerial, inPlaceOf: former)
      }
    }
    if former != nil { effects.append(.takeOver(node)) }
    state.indexes.values[place].insert(node, with: request.options, inPlaceOf: former)
    if state.indexes.values[place].takeSweep() {
      state.pendingWork.sweeps.append(topic)
      askForWake()
    }
    return node
  }

  /// Makes a terminated subscription, for an object that is dying; the inbox does not keep it.
  private func makeEnded(
    _ request: SubscriptionRequest, reference: consuming WeakReference, of type: Any.Type
  ) -> SubscriptionNode {
    let topic = state.withLock { $0.indexes[ObjectIdentifier(type)]?.topic }
    let node = SubscriptionNode(
      reference: reference, topic: topic ?? Topic(type, owner: self),
      mailbox: Mailbox(at: Notification(), number: 0), options: nil,
      origin: Origin(request.type, at: request.site), priority: 0, serial: 0)
    _ = node.beginTermination()
    node.finishTermination(at: 0, as: .expired)
    return node
  }
}

extension Inbox.State {
  /// Where the index of a protocol is; makes it if the protocol is new.
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
