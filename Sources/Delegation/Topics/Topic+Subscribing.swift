/// How somebody subscribes: anew, again, or in place of the one with the same id.
extension Topic {
  /// Adds a subscription, or changes the object's existing one.
  ///
  /// - Returns: the subscription; a terminated one if the subscriber is dying.
  func subscribe(
    _ request: SubscriptionRequest, reference: consuming WeakReference
  ) -> SubscriptionNode {
    guard reference.refers(to: request.object) else {
      return makeEnded(request, reference: reference)
    }
    let identity = request.options?.id
    var reference: WeakReference? = consume reference
    while true {
      let bucket = identity.map { identity in
        state.withLock { $0.named(identity.hash) }.map { (node: $0, id: $0.id) }
      }
      // Comparing identities is user code: outside the lock, and again if the bucket has changed.
      let sameID = bucket?.first { $0.id == identity }?.node
      let node = update { index -> SubscriptionNode? in
        if let bucket, let identity {
          let isSame = index.named(identity.hash).elementsEqual(bucket) {
            $0 === $1.node && $0.id === $1.id
          }
          if !isSame { return nil }
        }
        return subscribe(request, &reference, replacing: sameID, &index)
      }
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
  ///   - index: the state under the lock.
  /// - Returns: the subscription.
  private func subscribe(
    _ request: SubscriptionRequest, _ reference: inout WeakReference?,
    replacing sameID: SubscriptionNode?, _ index: inout TopicIndex
  ) -> SubscriptionNode {
    let existing = index.open[Int(bitPattern: ObjectIdentifier(request.object))]
    if let existing, existing.reference.refers(to: request.object) {
      if let sameID, sameID !== existing { index.terminate(sameID, as: .cancelled) }
      if let newer = request.options {
        index.effects.append(.applyOptions(existing, over: index.change(existing, by: newer)))
      }
      if let priority = request.priority { index.members.rank(existing, priority) }
      return existing
    }
    // Another object with the address of a live one can only be dead.
    if let existing, existing !== sameID { index.terminate(existing, as: .expired) }
    return add(request, &reference, inPlaceOf: sameID, &index)
  }

  /// Adds a subscription, with the place and the pending notifications of an older one with the same id.
  private func add(
    _ request: SubscriptionRequest, _ reference: inout WeakReference?,
    inPlaceOf older: SubscriptionNode?, _ index: inout TopicIndex
  ) -> SubscriptionNode {
    var mailbox = index.makeMailbox(request.options?.policy ?? .unbounded)
    let former = older?.isOpen == true ? older : nil
    if let former {
      // Until a worker is requested for the new one; the former one's may leave from the next line on.
      owner?.begin()
      index.effects.reserveCapacity(2)
      index.terminate(former, as: .cancelled, isSucceeded: true)
      // Under the topic's lock: so what is pending is in one mailbox at any time.
      mailbox = former.contents.withLock { contents in
        mailbox.takeOver(from: &contents.mailbox)
        return mailbox
      }
    }
    let site = index.site(of: type(of: request.object), at: request.line)
    let serial = former?.serial ?? index.nextSerial()
    guard let reference = reference.take() else {
      fatalError("Delegation: a subscription was added twice")
    }
    let node = SubscriptionNode(
      reference: reference, topic: self,
      mailbox: mailbox, options: request.options, site: site, priority: request.priority ?? 0,
      serial: serial)
    let replayed = former == nil ? mailbox.joined - mailbox.position : 0
    if former == nil, replayed > 0 { owner?.begin() }
    if former != nil || replayed > 0 { index.effects.append(.resume(node)) }
    index.insert(node, with: request.options, replaying: replayed)
    if former != nil { index.heirs[serial] = node }
    // The protocol is closed, and nothing was kept.
    if mailbox.isOver { index.terminate(node, as: .cancelled) }
    if index.takeSweep() {
      owner?.begin()
      index.effects.append(.sweep)
    }
    return node
  }

  /// Reports that a rule needs more answers than there are subscribers, unless that was done since there were as many.
  func reportShortage(of needed: Int, among present: Int, in call: CallKind) {
    guard state.withLock({ $0.noteShortage(of: needed) }) else { return }
    let nobody = BoundSubscriber(to: self)
    let node = makeEnded(
      (nobody, nil, nil, (#fileID, #line)), reference: WeakReference(nobody, object: nobody))
    var incident = DelegateHub.Incident(
      kind: .tooFew, call: call, subscription: .init(node: node), id: nil)
    (incident.needed, incident.present) = (needed, present)
    owner?.report(incident)
  }

  /// Makes a terminated subscription, for an object that is dying; nobody else keeps it.
  private func makeEnded(
    _ request: SubscriptionRequest, reference: consuming WeakReference
  ) -> SubscriptionNode {
    let node = SubscriptionNode(
      reference: reference, topic: self, mailbox: Mailbox(at: Notification(), number: 0),
      options: nil, site: SubscribeSite(type(of: request.object), at: request.line), priority: 0,
      serial: 0)
    node.beginTermination()
    node.finishTermination(at: 0, as: .expired)
    return node
  }
}

/// What a call of `subscribe` asks for.
typealias SubscriptionRequest = (
  object: AnyObject, options: SubscriptionOptions?, priority: Int?, line: SubscribeSite.Line
)
