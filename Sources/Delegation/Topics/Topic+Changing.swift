/// What a topic does under its lock: it posts, begins deliveries, and ends and changes subscriptions; and what follows.
extension TopicIndex {
  /// What has to be done with a subscription after a lock section, because it takes long or runs user code.
  enum Effect: Sendable {
    /// Requests a worker for what it has taken over, which is counted until then.
    case resume(SubscriptionNode)
    /// Finishes its termination, which began when so many notifications had been posted; the call is the one that
    /// found the subscriber dead, if one did.
    case finish(SubscriptionNode, at: Int, as: Termination, in: CallKind?)
    /// Looks for dead subscribers, which is counted.
    case sweep
  }
}

extension Topic {
  /// Runs a lock section, then carries out its effects.
  ///
  /// Must not be called under a lock.
  ///
  /// - Parameter section: runs under the lock. It takes constant time, takes no lock that a thread may hold
  ///   for long, and releases nothing that the user gave: that goes into the effects.
  /// - Returns: what the section returns.
  @discardableResult
  func update<Result: Sendable>(
    _ section: (inout TopicIndex) -> Result
  ) -> Result {
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
    effects: [TopicIndex.Effect], isHeavy: Bool, woken: [TopicIndex.Watcher]?,
    former: MemberList.Removed
  )

  /// Not inlined, as what follows: `update` has many copies.
  @inline(never)
  private func endSection(_ index: inout TopicIndex, wasWanted: Bool) -> Rest {
    defer { index.effects = [] }
    let isEmpty = index.population == 0
    let hasChanged = wasWanted != index.isWanted
    isHeard.store(index.isHeard, ordering: .releasing)
    index.forgetShortages()
    // When nobody is left nobody asks for the list, and topic and subscriptions are to refer to each other no longer.
    let former = isEmpty ? index.members.removeAll() : ([], [])
    return (index.effects, index.isHeavy, hasChanged ? index.watchers : nil, former)
  }

  @inline(never)
  private func carryOut(_ rest: Rest) {
    // Outside the lock: it may resume a task on the user's executor. Who is woken looks at the present value.
    for (_, wake) in rest.woken ?? [] { wake.yield() }
    if rest.isHeavy { merge() }
    // All are accounted for, and nobody waits for them, before any is released: a `deinit` may take its time.
    var released: [AnyObject] = []
    for effect in rest.effects {
      switch effect {
      case .resume(let successor):
        successor.resume()
        owner?.end()
      case .finish(let node, let end, let termination, let call):
        let (pending, options) = node.finishTermination(at: end, as: termination, in: call)
        if released.isEmpty { released.reserveCapacity(2 * rest.effects.count) }
        if let first = pending?.first { released.append(first) }
        if let options { released.append(options) }
      case .sweep: owner?.sweep(self)
      }
    }
    withExtendedLifetime(released) {}
  }

  // MARK: Terminating

  /// Ends a subscription that was to end and has nothing left to handle.
  @inline(never)
  func terminateIfOver(_ node: SubscriptionNode) {
    // Looked at in the section: the object may have subscribed again.
    update { index in
      if node.contents.withLock({ $0.mailbox.isOver }) { index.terminate(node, as: .cancelled) }
    }
  }

  /// Cancels an object's subscription, and those that it owns; that of a dead object that had the same address has
  /// expired.
  ///
  /// - Parameter object: the object, which may be dying.
  @inline(never)
  func terminate(_ object: AnyObject) {
    let address = Int(bitPattern: ObjectIdentifier(object))
    // One after another, so that few have ended at one address; in order, so that a schedule can be repeated.
    for node in owned(by: address) { node.terminate(as: .cancelled) }
    update { index in
      guard let node = index.open[address] else { return }
      // No weak reference refers to an object that is dying, and none to another has its address.
      let isSame =
        node.reference.refers(to: object)
        || !WeakReference(object, object: object).refers(to: object)
      index.terminate(node, as: isSame ? .cancelled : .expired)
    }
    for node in ended(of: object) where node.isReplaced { node.leavePlace() }
  }

  /// The open subscriptions that an object owns, in order.
  private func owned(by address: Int) -> [SubscriptionNode] {
    let owned = state.withLock { $0.owned[address] }
    guard let owned else { return [] }
    // For the thread sanitizer, as in `overview()`.
    defer { state.withLock { _ in } }
    return MemberList.sorted(owned.values)
  }

  /// Cancels all subscriptions with an id.
  func terminate(identifiedBy identity: Identity) {
    // Comparing identities is user code: outside the lock.
    for node in state.withLock({ $0.named(identity.hash) }) {
      guard let id = node.id, id.isMeant(by: identity) else { continue }
      update { $0.terminate(node, as: .cancelled) }
    }
  }

  /// Cancels all subscriptions, one after another in order.
  func terminateAll() {
    for node in snapshot() { node.terminate(as: .cancelled) }
  }

  /// Closes the protocol: nothing is posted any more, and all subscriptions end once they have handled what was.
  func finish() {
    update { $0.isClosed = true }
    for node in snapshot() { node.finish(at: node.published) }
  }

  /// Ends what would keep the topic in use, or the user's objects in memory: its hub is released.
  ///
  /// What waits in streams waits on.
  func close() {
    finish()
    let (kept, watchers) = state.withLock { ($0.keepNone(), $0.watchers.take()) }
    for (_, wake) in watchers ?? [] { wake.finish() }
    withExtendedLifetime(kept) {}
  }

  // MARK: Looking

  /// The subscriptions of an object that have ended and are not accounted for: handlers of them may run.
  func ended(of object: AnyObject) -> [SubscriptionNode] {
    let address = Int(bitPattern: ObjectIdentifier(object))
    return state.withLock { $0.ended[address] ?? [] }
      .filter { $0.reference.owner != nil || $0.reference.refers(to: object) }
  }

  // MARK: Telling

  /// Appends a notification, if anybody is subscribed.
  ///
  /// - Returns: whether the caller has to start a delivery, which is counted.
  func post(_ content: Notification.Content, for owner: some TopicOwner) -> Bool {
    // Taken and released within the section, as is the notification itself: both refer to all that is posted
    // after them, and what is done after the section may take long.
    var spare: Notification? = Notification()
    var former: Notification.Content?
    let isDeliveryDue = state.withLock { index in
      guard index.isHeard, let placeholder = spare.take() else { return false }
      former = index.post(content, to: number, followedBy: placeholder)
      // Then those are told that take no lock.
      if content.receipt != nil { lastReceipt.store(index.posted - 1, ordering: .releasing) }
      published.wrappingAdd(1, ordering: .releasing)
      guard index.population > 0, !index.isDeliveryDue else { return false }
      index.isDeliveryDue = true
      owner.begin()
      return true
    }
    // What the user gave is not released under the lock.
    withExtendedLifetime((content, former)) {}
    return isDeliveryDue
  }

  /// The subscriptions that a delivery which was requested serves: it sees all that was posted before.
  func beginDelivery() -> [SubscriptionNode] {
    state.withLock { index in
      index.isDeliveryDue = false
      return index.members.snapshot
    } ?? merge()
  }
}
