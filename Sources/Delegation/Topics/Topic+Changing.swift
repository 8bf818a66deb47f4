/// What a topic does in sections of its lock, and what follows them.
extension TopicIndex {
  /// What has to be done after a section of the topic's lock, because it takes long or runs user code.
  enum Effect: Sendable {
    /// Requests a worker for notifications that were taken over or are replayed, and counts off the one that the
    /// section has counted.
    case resume(SubscriptionNode)
    /// Completes a termination: `at` is how many notifications were posted when the termination began, `in` the call
    /// that found the subscriber dead, if one did.
    case finish(SubscriptionNode, at: Int, as: Termination, in: CallKind?)
    case release(SubscriptionOptions)
    /// Looks for dead subscribers; the search counts as a worker.
    case sweep
  }
}

extension Topic {
  /// Runs a lock section, then carries out its effects.
  ///
  /// Must not be called under a lock.
  ///
  /// - Parameter section: runs under the lock. It takes constant time, takes no lock that a thread may hold for long,
  ///   and releases nothing of the user's: an effect does.
  /// - Returns: what the section returns.
  @discardableResult
  func update<Result: Sendable>(_ section: (inout TopicIndex) -> Result) -> Result {
    let (result, rest) = state.withLock { index in
      let wasWanted = index.isWanted
      let result = section(&index)
      return (result, endSection(&index, wasWanted: wasWanted))
    }
    carryOut(rest)
    return result
  }

  /// What is left to do after a section: effects, whether to merge, whom to wake, and what to release.
  private typealias Rest = (
    effects: [TopicIndex.Effect], isHeavy: Bool, woken: [Waiter], former: MemberList.Removed
  )

  /// Takes out what is left to do after a section; not inlined, because `update` has many copies.
  @inline(never)
  private func endSection(_ index: inout TopicIndex, wasWanted: Bool) -> Rest {
    let mustWake = wasWanted != index.isWanted || index.isClosed
    let woken = mustWake ? exchange(&index.watchers, with: []) : []
    isNeeded.store(index.open.count > 0 || index.hasAudience, ordering: .releasing)
    index.forgetShortages()
    // With nobody subscribed, the list of members would only retain ended subscriptions, which retain the topic.
    let former = index.open.count == 0 ? index.members.removeAll() : ([], [])
    return (exchange(&index.effects, with: []), index.isHeavy, woken, former)
  }

  @inline(never)
  private func carryOut(_ rest: Rest) {
    // Resumed outside the lock, because resuming may call the user's executor. A resumed task reads the present demand.
    for waiter in rest.woken { waiter.resume(true) }
    if rest.isHeavy { merge() }
    carryOut(rest.effects[...])
  }

  /// Carries out a section's few effects, by recursion.
  private func carryOut(_ effects: ArraySlice<TopicIndex.Effect>) {
    guard let effect = effects.first else { return }
    switch effect {
    case .resume(let successor):
      successor.resume()
      owner?.uncountWorker()
    case .finish(let node, let end, let termination, let call):
      // Released after all further effects: a `deinit` may take long.
      let released = node.completeTermination(at: end, as: termination, in: call)
      return withExtendedLifetime(released) { carryOut(effects.dropFirst()) }
    case .release: break
    case .sweep: owner?.sweep(self)
    }
    carryOut(effects.dropFirst())
  }

  // MARK: Terminating

  /// Terminates a subscription that is finishing, if its mailbox has nothing left to handle before its `end`.
  @inline(never)
  func terminateIfOver(_ node: SubscriptionNode) {
    // Not always over: `finish(at:)` calls this while notifications may wait or a handler may run.
    update { index in
      if node.contents.withLock({ $0.mailbox.isOver }) { index.terminate(node, as: .cancelled) }
    }
  }

  /// Cancels the subscription of an object, which may be dying, and those of the observers that it owns.
  ///
  /// If the subscription at the object's address belongs to a dead object, it ends as expired instead.
  @inline(never)
  func terminate(_ object: AnyObject) {
    let address = Int(bitPattern: ObjectIdentifier(object))
    // Ended one after another, so that few at a time are in `ended` at this address; in order, so that a test can
    // repeat a schedule.
    for node in owned(by: address) { node.terminate(as: .cancelled) }
    let ended = update { index in
      guard let node = index.open[address] else { return index.ended[address] }
      // No weak reference can load a dying object: then the subscription at the object's address counts as its own.
      let isSame =
        node.reference.refers(to: object)
        || !WeakReference(object, object: object).refers(to: object)
      index.terminate(node, as: isSame ? .cancelled : .expired)
      return index.ended[address]
    }
    // All ended subscriptions at this address are the object's, or a dead object's.
    for node in ended ?? [] where node.isReplaced { node.leavePlace() }
  }

  /// The open subscriptions of the observers that an object owns, in order.
  private func owned(by address: Int) -> [SubscriptionNode] {
    guard let owned = state.withLock({ $0.owned[address] }) else { return [] }
    // The lock is taken again only for the thread sanitizer: see `overview()`.
    defer { state.withLock { _ in } }
    return MemberList.sorted(owned.values)
  }

  /// Cancels all subscriptions with an id, replaced ones too.
  func terminate(identifiedBy identity: Identity) {
    // Compared outside the lock, because comparing ids runs user code.
    for node in state.withLock({ $0.named[identity.hash] }) ?? [] {
      guard let id = node.id, id.isMeant(by: identity) else { continue }
      update { $0.terminate(node, as: .cancelled) }
    }
    for node in replaced where node.id?.isMeant(by: identity) ?? false { node.leavePlace() }
  }

  /// The replaced subscriptions whose handlers may run.
  private var replaced: [SubscriptionNode] {
    let ended = state.withLock { $0.ended }
    // For the thread sanitizer: see `overview()`.
    defer { state.withLock { _ in } }
    return ended.values.flatMap(\.self).filter(\.isReplaced)
  }

  /// Cancels all subscriptions, one after another in order.
  func terminateAll() {
    for node in snapshot() { node.terminate(as: .cancelled) }
    for node in replaced { node.leavePlace() }
  }

  /// Closes the protocol: nothing is posted any more, and all subscriptions end once they have handled what was posted.
  func finish() {
    update { $0.isClosed = true }
    for node in snapshot() { node.finish(at: node.published) }
  }

  /// Closes the topic when its hub is released, and releases what it keeps for new subscriptions.
  ///
  /// A loop can still take what waits in its stream.
  func close() {
    finish()
    let kept = state.withLock { $0.keepNone() }
    withExtendedLifetime(kept) {}
  }

  // MARK: Looking

  /// The ended subscriptions of an object and its observers whose handlers may run.
  func ended(of object: AnyObject) -> [SubscriptionNode] {
    let address = Int(bitPattern: ObjectIdentifier(object))
    // An observer's subscription is known by its owner's address alone.
    return state.withLock { $0.ended[address] ?? [] }
      .filter { $0.reference.owner != nil || $0.reference.refers(to: object) }
  }
}

/// How an object subscribes: anew, or as a replacement.
extension Topic {
  /// Adds a subscription, unless the object has one with all options that the request names.
  ///
  /// - Returns: the object's subscription; a terminated one if the object is dying.
  func subscribe(
    _ request: SubscriptionRequest, reference: consuming WeakReference
  ) -> SubscriptionNode {
    guard reference.refers(to: request.object) else {
      return makeEnded(request, reference: reference)
    }
    let identity = request.options?.id
    var reference: WeakReference? = consume reference
    while true {
      var (bucket, sameID) = ([SubscriptionNode](), SubscriptionNode?.none)
      if let identity {
        bucket = state.withLock { $0.named[identity.hash] } ?? []
        // Compared outside the lock: see ``Identity``; compared again if the bucket has changed.
        sameID = bucket.first { $0.id == identity }
      }
      // The newcomer takes over what waits for a dead subscriber of its id. If nothing waits, it begins anew, and gets
      // what is replayed.
      if let sameID, !sameID.reference.isAlive, sameID.account.waiting == 0 {
        sameID.terminate(as: .expired)
        continue
      }
      let node = update { [bucket, sameID] index -> SubscriptionNode? in
        if let identity, !(index.named[identity.hash] ?? []).elementsEqual(bucket, by: ===) {
          return nil
        }
        return subscribe(request, &reference, replacing: sameID, &index)
      }
      if let node { return node }
    }
  }

  /// The part of ``subscribe(_:reference:)`` under the topic's lock; takes `reference` if it adds a subscription.
  ///
  /// `sameID` is the subscription that has the same id, if there is one.
  private func subscribe(
    _ request: SubscriptionRequest, _ reference: inout WeakReference?,
    replacing sameID: SubscriptionNode?, _ index: inout TopicIndex
  ) -> SubscriptionNode {
    let existing = index.open[Int(bitPattern: ObjectIdentifier(request.object))]
    guard let existing, existing.reference.refers(to: request.object) else {
      // The existing subscription's object is dead: a live object has its address now.
      if let existing, existing !== sameID { index.terminate(existing, as: .expired) }
      return add(request, &reference, replacing: sameID, &index)
    }
    let isNamed = request.options?.id == nil || sameID === existing
    if isNamed, existing.satisfies(request) { return existing }
    if let sameID, sameID !== existing { index.terminate(sameID, as: .cancelled) }
    return add(request, &reference, replacing: existing, &index)
  }

  /// Adds a subscription, under the topic's lock; a replacement takes over what waits, and the options that are not
  /// named.
  private func add(
    _ request: SubscriptionRequest, _ reference: inout WeakReference?,
    replacing former: SubscriptionNode?, _ index: inout TopicIndex
  ) -> SubscriptionNode {
    var options = request.options
    if let inherited = former?.contents.withLock({ $0.options }) {
      options = SubscriptionOptions(options, over: inherited, of: request.object)
    }
    var mailbox = index.makeMailbox(options?.policy ?? .unbounded)
    let replayed = former == nil ? mailbox.joined - mailbox.position : 0
    let serial = former?.serial ?? index.nextNumber()
    var origin = serial
    let mustResume = former != nil || replayed > 0
    // Counted before the former subscription's worker is counted off: a drain must not see the hub idle.
    if mustResume { owner?.countWorker() }
    if let former {
      let isSame = former.reference.refers(to: request.object)
      origin = isSame ? former.origin : index.nextNumber()
      index.effects.reserveCapacity(2)
      index.terminate(former, as: .cancelled, isReplaced: true)
      // Moved under the topic's lock, so that what is pending is always in one mailbox.
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
    if former != nil { index.replacements[serial] = node }
    if mustResume { index.effects.append(.resume(node)) }
    // The mailbox is over already if the protocol is finished, and nothing waits or is replayed.
    if mailbox.isOver { index.terminate(node, as: .cancelled) }
    if index.takeSweep() {
      owner?.countWorker()
      index.effects.append(.sweep)
    }
    return node
  }

  /// Reports that a rule needs more answers than there are subscribers, unless ``TopicIndex/noteShortage(of:)`` has
  /// noted that number before.
  func reportShortage(of needed: Int, among present: Int, in call: CallKind) {
    guard state.withLock({ $0.noteShortage(of: needed) }) else { return }
    let nobody = BoundSubscriber(to: self)
    let node = makeEnded(
      (nobody, nil, nil, (#fileID, #line)), reference: WeakReference(nobody, object: nobody))
    node.report(.tooFew, in: call, present: present, needed: needed)
  }

  /// Makes a terminated subscription, for a dying object or an incident; it is not in the topic's index.
  private func makeEnded(
    _ request: SubscriptionRequest, reference: consuming WeakReference
  ) -> SubscriptionNode {
    let node = SubscriptionNode(
      reference: reference, topic: self, mailbox: Mailbox(at: Notification(), number: 0),
      options: nil, site: SubscribeSite(type(of: request.object), at: request.line), priority: 0,
      serial: 0, origin: state.withLock { $0.nextNumber() })
    node.beginTermination()
    node.completeTermination(at: 0, as: .expired)
    return node
  }
}

extension SubscriptionNode {
  /// Whether the subscription has all that a request of the same object names, and is not finishing.
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
