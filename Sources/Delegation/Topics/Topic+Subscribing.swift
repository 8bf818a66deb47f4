/// How somebody subscribes: anew, or in place of another subscription.
extension Topic {
  /// Adds a subscription, unless the object has one and no option is named.
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
      let bucket = identity.map { id in state.withLock { $0.named(id.hash) } } ?? []
      // Comparing identities is user code: outside the lock, and again if the bucket has changed.
      let sameID = identity.flatMap { id in bucket.first { $0.id == id } }
      let node = update { index -> SubscriptionNode? in
        let present = identity.map { index.named($0.hash) } ?? []
        if !present.elementsEqual(bucket, by: ===) { return nil }
        return subscribe(request, &reference, replacing: sameID, &index)
      }
      if let node { return node }
    }
  }

  /// Adds a subscription, unless the object has one and no option is named.
  ///
  /// Called under the lock, as all functions below it.
  ///
  /// - Parameters:
  ///   - request: what to subscribe.
  ///   - reference: the reference to the object; taken if a subscription is added.
  ///   - sameID: the subscription that has the same id, if there is one.
  ///   - index: the state under the lock.
  /// - Returns: the subscription.
  private func subscribe(
    _ request: SubscriptionRequest, _ reference: inout WeakReference?,
    replacing sameID: SubscriptionNode?, _ index: inout TopicIndex
  ) -> SubscriptionNode {
    let existing = index.open[Int(bitPattern: ObjectIdentifier(request.object))]
    guard let existing, existing.reference.refers(to: request.object) else {
      // Another object with the address of a live one can only be dead.
      if let existing, existing !== sameID { index.terminate(existing, as: .expired) }
      return add(request, &reference, inPlaceOf: sameID, &index)
    }
    let isNamed = request.options?.id == nil || sameID === existing
    if isNamed, existing.satisfies(request) { return existing }
    if let sameID, sameID !== existing { index.terminate(sameID, as: .cancelled) }
    return add(request, &reference, inPlaceOf: existing, &index)
  }

  /// Adds a subscription; in place of a former one it has what waits there, and the options that are not named.
  private func add(
    _ request: SubscriptionRequest, _ reference: inout WeakReference?,
    inPlaceOf former: SubscriptionNode?, _ index: inout TopicIndex
  ) -> SubscriptionNode {
    var options = request.options
    if let inherited = former?.contents.withLock({ $0.options }) {
      options = SubscriptionOptions(options, over: inherited, of: request.object)
    }
    var mailbox = index.makeMailbox(options?.policy ?? .unbounded)
    let replayed = former == nil ? mailbox.joined - mailbox.position : 0
    let serial = former?.serial ?? index.nextSerial()
    var origin = serial
    let mustResume = former != nil || replayed > 0
    // Counted before the former one's worker may leave: a drain must not see the hub idle in between.
    if mustResume { owner?.begin() }
    if let former {
      let isSame = former.reference.refers(to: request.object)
      origin = isSame ? former.origin : index.nextSerial()
      index.effects.reserveCapacity(2)
      index.terminate(former, as: .cancelled, isSucceeded: true)
      // Under the topic's lock: so what is pending is in one mailbox at any time.
      mailbox = former.contents.withLock { contents in
        if contents.mailbox.flags.contains(.attended) { contents.options?.loop?.owner = owner }
        mailbox.takeOver(from: &contents.mailbox)
        return mailbox
      }
    }
    guard let reference = reference.take() else {
      fatalError("Delegation: a subscription was added twice")
    }
    let node = SubscriptionNode(
      reference: reference, topic: self, mailbox: mailbox, options: options,
      site: index.site(of: type(of: request.object), at: request.line),
      priority: request.priority ?? former?.priority ?? 0, serial: serial, origin: origin)
    index.insert(node, with: options, replaying: replayed)
    if former != nil { index.heirs[serial] = node }
    if mustResume { index.effects.append(.resume(node)) }
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
      serial: 0, origin: state.withLock { $0.nextSerial() })
    node.beginTermination()
    node.finishTermination(at: 0, as: .expired)
    return node
  }
}

extension SubscriptionNode {
  /// Whether a request of the same object names nothing but what holds for the subscription, which does not end.
  ///
  /// The ids are not compared. Called under the topic's lock.
  fileprivate func satisfies(_ request: SubscriptionRequest) -> Bool {
    contents.withLock { contents in
      !contents.mailbox.isFinishing && request.priority ?? priority == priority
        && request.options?.isCovered(by: contents.options) ?? true
    }
  }
}

/// What a call of `subscribe` asks for.
typealias SubscriptionRequest = (
  object: AnyObject, options: SubscriptionOptions?, priority: Int?, line: SubscribeSite.Line
)
